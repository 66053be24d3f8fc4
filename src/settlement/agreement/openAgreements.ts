import { findAsset, findWatchedChain, watchedTokens } from "../../catalog/catalog.ts";
import type { Tx } from "../../db/database.ts";
import type { Caip2 } from "../../kernel/caip.ts";
import type { MovementRow } from "../../watch/movement.ts";
import type { World } from "../../world.ts";
import { sweepKey } from "../settlement.ts";
import {
  deleteAgreements,
  listAgreements,
  listRecentOutflows,
  OUTFLOWS_READ_MAX,
  upsertAgreements,
  type RecentOutflow,
} from "./agreementStore.ts";
import { describeLegs, isOverSingleProviderLimit, type SweepLegs } from "./sweepAgreement.ts";

type SweepName = { intent_id: string; token: string; chain_tx: string };

/** The topic of the loop that asks the providers. */
export const sweepAgreementsTopic = (chain: Caip2) => `sweep agreements:${chain}`;

/**
 * The sweeps among `names` that must wait: above the single-provider limit, and not confirmed by enough providers.
 * Opens their verifications. A sweep in a reread block waits for nothing, because enough providers have shown it.
 * `legs`: all movements out of inboxes in the sweeps' transactions. The caller holds the locks of the intents.
 */
export async function listWaitingSweeps(
  tx: Tx,
  { catalog }: Pick<World, "catalog">,
  { chain, names, legs, at }: { chain: Caip2; names: readonly SweepName[]; legs: readonly MovementRow[]; at: Date },
): Promise<Set<string>> {
  const policy = findWatchedChain(catalog, chain)?.agreement;
  if (policy === undefined || names.length === 0) return new Set();
  const live = Map.groupBy(
    legs.filter(({ orphaned_at }) => orphaned_at === null),
    sweepKey,
  );
  await deleteAgreements(
    tx,
    chain,
    names.filter((name) => !live.has(sweepKey(name))),
  );
  const shown = names.flatMap((name) => describeLegs(live.get(sweepKey(name)) ?? []) ?? []);
  const outflows = await listRecentOutflows(tx, {
    chain,
    intentIds: [...new Set(shown.map(({ intentId }) => intentId))],
    tokens: watchedTokens(catalog, chain),
  });
  const rows = await listAgreements(tx, chain, shown.map(nameOf));
  const known = new Map(rows.map((row) => [sweepKey(row), row]));
  const overLimit = intentsOverLimit(outflows, {
    policy,
    decimalsOf: (token) => findAsset(catalog, chain, token)?.decimals,
  });
  const reread = await findRereadNumber(tx, chain);
  const stateOf = (sweep: SweepLegs) => {
    const row = known.get(sweepKey(nameOf(sweep)));
    const isSame = row?.legs_revision === sweep.legsRevision && row.legs_count === sweep.legsCount;
    return isSame ? row.state : undefined;
  };
  const waiting = shown.filter((sweep) => {
    const state = stateOf(sweep);
    if (state === "agreed" || sweep.blockNumber <= reread) return false;
    return state === "asking" || overLimit.has(sweep.intentId);
  });
  // A question about movements that need no answer any more would be asked without end.
  const isWaiting = new Set(waiting.map((sweep) => sweepKey(nameOf(sweep))));
  await deleteAgreements(
    tx,
    chain,
    rows.filter((row) => row.state === "asking" && !isWaiting.has(sweepKey(row))),
  );
  await upsertAgreements(tx, { chain, sweeps: waiting.filter((sweep) => stateOf(sweep) === undefined), at });
  return isWaiting;
}

function nameOf({ intentId, token, chainTx }: SweepLegs): SweepName {
  return { intent_id: intentId, token, chain_tx: chainTx };
}

function intentsOverLimit(
  outflows: readonly RecentOutflow[],
  { policy, decimalsOf }: { policy: { abovePriceUnits: bigint }; decimalsOf: (token: string) => number | undefined },
): Set<string> {
  const over = new Set<string>();
  for (const [intentId, ofIntent] of Map.groupBy(outflows, (outflow) => outflow.intentId)) {
    const isMore = ofIntent.some(({ count }) => count >= BigInt(OUTFLOWS_READ_MAX));
    const sums = ofIntent.map(({ token, units }) => ({ units, decimals: decimalsOf(token) }));
    if (isMore || isOverSingleProviderLimit(sums, policy)) over.add(intentId);
  }
  return over;
}

async function findRereadNumber(tx: Tx, chain: Caip2): Promise<bigint> {
  const row = await tx.selectFrom("chain_cursor").select("reread_number").where("chain", "=", chain).executeTakeFirst();
  return row?.reread_number ?? -1n;
}
