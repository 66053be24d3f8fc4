import type { Tx } from "../../db/database.ts";
import type { Config } from "../../config/config.ts";
import type { Clock } from "../../kernel/clock.ts";
import type { Entropy } from "../../kernel/entropy.ts";
import { restoreSequences } from "../store.ts";
import { lockPendingFeeds, setFeedsRestoredTo } from "./epochStore.ts";

/** Accounts whose feeds one transaction continues. */
const ACCOUNTS_MAX = 1_000;

export type RestoreWorld = { clock: Clock; entropy: Entropy; config: Pick<Config, "environment"> };

/**
 * Gives the next accounts their event of a new epoch. Until all have it no other event gets a sequence, so that it
 * stands before them. The caller is the only sequencer.
 */
export async function restoreFeeds(tx: Tx, world: RestoreWorld): Promise<void> {
  const after = await lockPendingFeeds(tx);
  if (after === undefined) return;
  const livemode = world.config.environment === "live";
  const restoredTo = await restoreSequences(tx, world, { after, limit: ACCOUNTS_MAX, at: world.clock.now(), livemode });
  await setFeedsRestoredTo(tx, restoredTo ?? null);
}
