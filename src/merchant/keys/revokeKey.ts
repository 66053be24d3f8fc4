import { Fault } from "../../kernel/faults.ts";
import type { World } from "../../world.ts";
import { clearKeyCache } from "./keyCache.ts";
import { updateRevoked } from "../store.ts";

/**
 * Revokes a key: at once in this process, within a second in others. Revoking again changes nothing. Throws not_found.
 */
export async function revokeKey(world: Pick<World, "db" | "clock" | "memory">, keyId: string): Promise<void> {
  const isKnown = await updateRevoked(world.db, { keyId, at: world.clock.now() });
  clearKeyCache(world);
  if (!isKnown) throw new Fault("not_found", { message: "No such key." });
}
