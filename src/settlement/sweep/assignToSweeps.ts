import type { Tx } from "../../db/database.ts";
import { refreshHoldings } from "../../deposit/holding/holdingStore.ts";
import { assignSettlement } from "../../deposit/store.ts";
import type { Caip2 } from "../../kernel/caip.ts";
import { listUnassignedSweptDeposits } from "../store.ts";

/** Deposits assigned to earlier sweeps per call. */
const SWEPT_DEPOSITS_MAX = 1_000;

/**
 * Assigns late deposits to the sweep or burn that took them: planning them again would send empty sweeps without end,
 * and while their inbox counts as holding them, no balance is enough for what came later. The caller holds the intents'
 * locks. `hasMore`: the next call assigns the rest.
 */
export async function assignToSweeps(
  tx: Tx,
  scope: { chain: Caip2; intentIds: readonly string[] },
): Promise<{ hasMore: boolean }> {
  const swept = await listUnassignedSweptDeposits(tx, { ...scope, limit: SWEPT_DEPOSITS_MAX });
  for (const [settlementId, deposits] of Map.groupBy(swept, (deposit) => deposit.settlementId)) {
    const depositIds = deposits.map((deposit) => deposit.depositId);
    await assignSettlement(tx, depositIds, settlementId);
  }
  if (swept.length > 0) await refreshHoldings(tx, scope.intentIds);
  return { hasMore: swept.length === SWEPT_DEPOSITS_MAX };
}
