import { Fault } from "../kernel/faults.ts";
import type { World } from "../world.ts";
import { markRevoked } from "./store.ts";

/** From the next request on the key is refused. Revoking it again changes nothing. Throws not_found. */
export async function revokeKey(world: Pick<World, "db" | "clock">, keyId: string): Promise<void> {
  const isKnown = await markRevoked(world.db, { keyId, at: world.clock.now() });
  if (!isKnown) throw new Fault("not_found", { message: "No such key." });
}
