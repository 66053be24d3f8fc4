import { watchedTokens } from "../catalog/catalog.ts";
import type { Chain } from "../chain/chain.ts";
import type { Db } from "../db/database.ts";
import { isInboxOnChain } from "../intent/inboxStore.ts";
import type { Caip2 } from "../kernel/caip.ts";
import type { ComparedBalance } from "../watch/reconcile/comparedBalance.ts";
import { compareInboxes, isDifferent } from "../watch/reconcile/compareInboxes.ts";
import type { ComparedInbox } from "../watch/reconcile/passPages.ts";
import type { World } from "../world.ts";

// Compares the ledger with the chain now, for an operator who asks. A transfer that this service never saw leaves no
// row to query, but it changes the balance on the chain. The service compares by itself too (`src/watch/reconcile`),
// and only at final blocks.

/**
 * `chainUnits` above `ledgerUnits`: an unseen deposit, or a balance change without a transfer. Below: a withdrawal
 * without a transfer.
 */
export type BalanceDifference = ComparedBalance;

export type BalanceComparison = {
  chain: Caip2;
  token: string;
  /** The number of compared inboxes, and of all inboxes. */
  comparedInboxes: number;
  totalInboxes: number;
  differences: BalanceDifference[];
};

/** Inboxes in one request to the chain. */
const PAGE_MAX = 100;

/**
 * Compares all inboxes, or the newest `inboxesMax`, with one chain, for each of its tokens, page by page at the newest
 * booked block. Fewer are compared when the providers no longer have a recorded block. Throws ProviderFailed when no
 * provider answers.
 */
export async function compareBalances(
  world: Pick<World, "db" | "catalog" | "log" | "memory">,
  chain: Chain,
  { inboxesMax = Infinity }: { inboxesMax?: number | undefined } = {},
): Promise<BalanceComparison[]> {
  const { total } = await world.db.root
    .selectFrom("inbox")
    .select((select) => select.fn.countAll<bigint>().as("total"))
    .where(isInboxOnChain(chain.caip2))
    .executeTakeFirstOrThrow();
  const differences: BalanceDifference[] = [];
  let comparedInboxes = 0;
  let belowSeq: bigint | undefined;
  while (comparedInboxes < inboxesMax) {
    const limit = Math.min(PAGE_MAX, inboxesMax - comparedInboxes);
    const inboxes = await listInboxes(world.db, { chain: chain.caip2, belowSeq, limit });
    if (inboxes.length === 0) break;
    belowSeq = inboxes.at(-1)?.seq;
    const { block, balances } = await compareInboxes(world, chain, { inboxes, preferred: "booked" });
    if (block === undefined) break;
    differences.push(...balances.filter(isDifferent));
    comparedInboxes += inboxes.length;
  }
  return watchedTokens(world.catalog, chain.caip2).map((token) => ({
    chain: chain.caip2,
    token,
    comparedInboxes,
    totalInboxes: Number(total),
    differences: differences.filter((difference) => difference.token === token),
  }));
}

async function listInboxes(
  db: Db,
  { chain, belowSeq, limit }: { chain: Caip2; belowSeq: bigint | undefined; limit: number },
): Promise<(ComparedInbox & { seq: bigint })[]> {
  return db.root
    .selectFrom("inbox")
    .select(["intent_id as intentId", "address", "token", "seq"])
    .where(isInboxOnChain(chain))
    .$if(belowSeq !== undefined, (select) => select.where("seq", "<", belowSeq ?? 0n))
    .orderBy("seq", "desc")
    .limit(limit)
    .execute();
}
