import { isServerIdentityReadable, watchEpoch } from "../../event/epoch/watchEpoch.ts";
import { clearKeyCache } from "../../merchant/keys/keyCache.ts";
import type { World } from "../../world.ts";
import type { Loop } from "../loop.ts";

/** The longest time of commits whose loss only the server's identity shows. */
const INTERVAL_MS = 1_000;

/** Notices that the database lost commits, by a failover or a restore. */
export function watchEpochLoop(world: World): Loop {
  let epochBefore: number | undefined;
  return {
    name: "database epoch",
    topic: "epoch",
    intervalMs: INTERVAL_MS,
    tick: async () => {
      const { epoch, rewind } = await watchEpoch(world);
      if (epochBefore === undefined) warnUnreadable(world);
      const isOther = epochBefore !== undefined && epochBefore !== epoch;
      epochBefore = epoch;
      if (rewind === undefined && !isOther) return false;
      world.log.warn({ epoch, reason: rewind }, "the database lost commits, or another server took its place");
      // A key that was revoked and created again may have brought the same version.
      clearKeyCache(world);
      world.wake.notify("events");
      return false;
    },
  };
}

function warnUnreadable({ db, memory, log }: World): void {
  if (db.kind !== "postgres" || isServerIdentityReadable({ memory }) !== false) return;
  log.warn(
    "the role may not read pg_control_system() and the timeline: a restore is only noticed while a process runs, so use `tributary restore mark`",
  );
}
