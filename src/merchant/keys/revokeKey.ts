import type { Db, Tx } from "../../db/database.ts";
import { Fault } from "../../kernel/faults.ts";
import type { World } from "../../world.ts";
import { clearKeyCache } from "./keyCache.ts";
import { updateRevoked } from "../store.ts";

/**
 * Revokes a key: at once in this process, within a second in others. Revoking again changes nothing. Throws not_found.
 * `on`: the caller's transaction, which then clears the cache of keys when it has ended.
 */
export async function revokeKey(
  world: Pick<World, "db" | "clock" | "memory">,
  keyId: string,
  on: Db["root"] | Tx = world.db.root,
): Promise<void> {
  const isKnown = await updateRevoked(on, { keyId, at: world.clock.now() });
  clearKeyCache(world);
  if (!isKnown) throw new Fault("not_found", { message: "No such key." });
}
