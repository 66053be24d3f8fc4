import { noteRents } from "../../bridge/rent/rentStore.ts";
import { writeLandings } from "../../bridge/store.ts";
import type { Tx } from "../../db/database.ts";
import type { World } from "../../world.ts";
import type { SettlementChanges } from "../change/settlementChanges.ts";

/** Writes changed settlements with the states of their crossings. */
export async function writeCrossingChanges(
  tx: Tx,
  world: Pick<World, "entropy">,
  { changes, status, at }: { changes: SettlementChanges; status: "attested" | "landed"; at: Date },
): Promise<void> {
  if (changes.settlements.length === 0) return;
  await changes.writeSettlements(tx);
  const movementIds = changes.settlements.flatMap(({ burn_id }) => burn_id ?? []);
  await writeLandings(tx, { movementIds, status, at });
  if (status === "landed") await noteRents(tx, movementIds);
  await changes.writeTotals(tx);
  await changes.appendEvents(tx, world);
}
