import { findWatchedChain, type Catalog } from "../../catalog/catalog.ts";
import type { Tx } from "../../db/database.ts";
import type { ConsumerCursorTable } from "../../handover/handoverTables.ts";
import { findRoutes } from "../../intent/routes/findRoutes.ts";
import { listTakenDestinations, type IntentRow } from "../../intent/store.ts";
import type { World } from "../../world.ts";
import type { SingleProviderTotal } from "../agreement/agreement.ts";
import { listUnchangedHoldings } from "../holding/holdingStore.ts";
import { lowestFinalBlock, type ChainHead } from "../finality.ts";
import { listHeads, listSingleProviderTotals } from "../store.ts";
import { chainNamesOf, listDepositsToDecide, listIntentChains, type IntentChain } from "./factReads.ts";
import { IntentFacts, type ChainFacts } from "./facts.ts";

/** A locked intent with all facts by which it is decided. */
export type IntentCase = { intent: IntentRow; facts: IntentFacts };

type FactsRequest = {
  /** Locked by the caller, before anything else is read. */
  intents: readonly IntentRow[];
  /** The chain whose loop decides. */
  chain: ConsumerCursorTable["chain"];
  /** The movements whose deposits the caller changes. */
  movementIds?: readonly bigint[];
  /** The cursor of the chain after the caller's batch; by default its present cursor. */
  upto?: ConsumerCursorTable;
  at: Date;
};

/**
 * Reads the facts of locked intents. The order matters: heads come before what waits, because a head of a branch that
 * replaced a block shows with it the movements of that block as changed. So a deposit is never counted by a head that
 * no longer has its block, and dust never summed past a block whose dust is not recorded yet.
 */
export async function readFacts(
  tx: Tx,
  world: Pick<World, "catalog" | "memory">,
  request: FactsRequest,
): Promise<IntentCase[]> {
  const { intents, chain, movementIds = [], upto, at } = request;
  if (intents.length === 0) return [];
  const scope = { intentIds: intents.map((intent) => intent.id), chain };
  const heads = await listHeads(tx, world.catalog, { name: "of_intents", chains: chainNamesOf(scope) });
  const intentChains = await listIntentChains(tx, scope, upto);
  const above = intentChains.map(({ intentId, chain: on }) => {
    const tiers = findWatchedChain(world.catalog, on)?.finality ?? [];
    return { intent_id: intentId, chain: on, block_number: lowestFinalBlock(tiers, heads.get(on)) };
  });
  const deposits = await listDepositsToDecide(tx, { intentIds: scope.intentIds, movementIds, above });
  const holdingsOf = await listUnchangedHoldings(tx, scope.intentIds);
  const routesOf = await findRoutes({ db: tx, memory: world.memory }, intents);
  const totals = await loadSingleProviderTotals(tx, world.catalog, scope.intentIds);
  const chainsOf = Map.groupBy(intentChains, ({ intentId }) => intentId);
  const depositsOf = Map.groupBy(deposits, (deposit) => deposit.intent_id);
  // A settled intent may lose its price, and become active again unless its destination is taken.
  const mayReopen = intents.filter(({ status, occupies }) => status === "settled" && occupies);
  const taken = await listTakenDestinations(
    tx,
    mayReopen.map(({ id }) => id),
  );
  return intents.map((intent) => ({
    intent,
    facts: IntentFacts.of({
      chains: new Map((chainsOf.get(intent.id) ?? []).map((on) => [on.chain, toChainFacts(world.catalog, on, heads)])),
      deposits: (depositsOf.get(intent.id) ?? []).map((deposit) => ({ before: deposit, after: deposit })),
      holdings: holdingsOf.get(intent.id) ?? [],
      routes: routesOf.get(intent.id) ?? [],
      singleProviderTotals: totals.filter(({ intentId }) => intentId === intent.id),
      isDestinationTaken: taken.has(intent.id),
      at,
    }),
  }));
}

function toChainFacts(catalog: Catalog, on: IntentChain, heads: ReadonlyMap<string, ChainHead>): ChainFacts {
  const config = findWatchedChain(catalog, on.chain);
  const [head, tiers] = [heads.get(on.chain), config?.finality ?? []];
  return {
    head,
    tiers,
    lowestFinalBlock: lowestFinalBlock(tiers, head),
    isBehind: on.isBehind,
    postponedBlock: on.postponedBlock ?? undefined,
    agreement: config?.agreement,
  };
}

/** Reads the totals only when a chain has a limit above 0; at 0 every deposit needs agreement. */
async function loadSingleProviderTotals(
  tx: Tx,
  catalog: Catalog,
  intentIds: readonly string[],
): Promise<SingleProviderTotal[]> {
  const isLimited = catalog.chains.some((chain) => (chain.agreement?.abovePriceUnits ?? 0n) > 0n);
  return isLimited ? listSingleProviderTotals(tx, intentIds) : [];
}
