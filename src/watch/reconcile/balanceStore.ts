import { sql, type Selectable } from "kysely";
import type { Detection } from "../../chain/chain.ts";
import type { Db } from "../../db/database.ts";
import { array } from "../../db/parameters.ts";
import type { BalanceDifferenceTable, BalancePassTable, PassScope } from "./balanceTables.ts";
import type { Caip2 } from "../../kernel/caip.ts";
import { addMs, CLOCK_DIFFERENCE_MS_MAX } from "../../kernel/clock.ts";

// The progress of comparing balances, and what it found. A claim is a due time in the future: another process takes
// over when a process ends between its claim and its result.

export type BalancePass = Selectable<BalancePassTable>;
export type BalanceDifference = Selectable<BalanceDifferenceTable>;

const COMPARED_SCOPES: readonly PassScope[] = ["moved", "created", "viewed", "all"];
const SCOPES: Readonly<Record<Detection, readonly PassScope[]>> = {
  blocks: COMPARED_SCOPES,
  balances: ["viewed", "all", "other_tokens", "settled"],
};

/** Pause after a search that explained nothing: an hour on the first day, then a day. */
const RESEARCH_MS = 3_000_000;
/** The longest pause of a pass or a search. */
const PAUSE_MS_MAX = 25 * 3_600_000;

export async function insertPasses(
  db: Db,
  { chain, at, detection }: { chain: Caip2; at: Date; detection: Detection },
): Promise<void> {
  await db.root
    .insertInto("balance_pass")
    .values(SCOPES[detection].map((scope) => ({ chain, scope, started_at: at, next_at: at })))
    .onConflict((conflict) => conflict.columns(["chain", "scope"]).doNothing())
    .execute();
}

/** `pauseMs`: the longest pause of these passes. */
type Claim = { chain: Caip2; at: Date; until: Date; pauseMs?: number };

/** Claims the pass that has been due for the longest time, until a time. */
export async function claimPass(
  db: Db,
  { chain, at, until, pauseMs }: Claim,
  scopes: readonly PassScope[] = COMPARED_SCOPES,
): Promise<BalancePass | undefined> {
  const { rows } = await sql<BalancePass>`/* named: claim_pass */
    update balance_pass set next_at = ${until}
    where chain = ${chain} and scope = (
      select scope from balance_pass where chain = ${chain} and scope = any(${array(scopes, "text")}) and ${isDue(at, pauseMs)}
      order by next_at, scope limit 1 for update skip locked)
    returning *`.execute(db.root);
  return rows[0];
}

/** Where the next page begins; undefined when the pass is complete. */
export type PassProgress = { position: string | undefined; comparedCount: number; at: Date; nextAt: Date };

/** Stores the progress of a claimed pass. Does nothing when another process was faster. */
export async function advancePass(db: Db, pass: BalancePass, progress: PassProgress): Promise<void> {
  const comparedCount = pass.compared_count + BigInt(progress.comparedCount);
  const { position, at, nextAt } = progress;
  await db.root
    .updateTable("balance_pass")
    .set(
      position === undefined
        ? {
            started_at: nextAt,
            position: null,
            compared_count: 0n,
            next_at: nextAt,
            completed_at: at,
            completed_count: comparedCount,
          }
        : { position, compared_count: comparedCount, next_at: nextAt },
    )
    .where("chain", "=", pass.chain)
    .where("scope", "=", pass.scope)
    .where("started_at", "=", pass.started_at)
    .where("position", "is not distinct from", pass.position)
    .execute();
}

export async function listPasses(db: Db): Promise<BalancePass[]> {
  return db.root.selectFrom("balance_pass").selectAll().orderBy("chain").orderBy("scope").execute();
}

export async function listDifferences(
  db: Db,
  { chain, inboxes }: { chain: Caip2; inboxes: readonly string[] },
): Promise<BalanceDifference[]> {
  if (inboxes.length === 0) return [];
  return db.root
    .selectFrom("balance_difference")
    .selectAll()
    .where("chain", "=", chain)
    .where("inbox", "in", inboxes)
    .execute();
}

/** The number of inboxes and tokens of each chain whose balances differ. */
export async function countDifferences(db: Db): Promise<{ chain: Caip2; count: bigint }[]> {
  return db.root
    .selectFrom("balance_difference")
    .select((select) => ["chain", select.fn.countAll<bigint>().as("count")])
    .groupBy("chain")
    .orderBy("chain")
    .execute();
}

/** Claims a difference whose search is not complete, until a time. */
export async function claimDifference(db: Db, { chain, at, until }: Claim): Promise<BalanceDifference | undefined> {
  const { rows } = await sql<BalanceDifference>`/* named: claim_difference */
    update balance_difference set next_at = ${until}
    where (chain, inbox, token) = (
      select chain, inbox, token from balance_difference
      where chain = ${chain} and ${isDue(at)} and searched_number > coalesce(lowest_number, 0)
      order by next_at limit 1 for update skip locked)
    returning *`.execute(db.root);
  return rows[0];
}

/**
 * Stores a difference. Its search starts again when its amount has changed, and from time to time after it ended: a
 * provider may have become honest. Returns whether the difference is new.
 */
export async function upsertDifference(
  db: Db,
  difference: Pick<
    BalanceDifference,
    "chain" | "inbox" | "token" | "intent_id" | "block_number" | "ledger_units" | "chain_units"
  > & { at: Date },
): Promise<boolean> {
  const { at, ...row } = difference;
  const searched_number = row.block_number + 1n;
  const [anHourAgo, aDayAgo] = [addMs(at, -RESEARCH_MS), addMs(at, -24 * RESEARCH_MS)];
  const { rows } = await sql<{ isNew: boolean }>`
    insert into balance_difference (chain, inbox, token, intent_id, block_number, ledger_units, chain_units,
      searched_number, next_at, found_at)
    values (${row.chain}, ${row.inbox}, ${row.token}, ${row.intent_id}, ${row.block_number}, ${row.ledger_units},
      ${row.chain_units}, ${searched_number}, ${at}, ${at})
    on conflict (chain, inbox, token) do update set block_number = excluded.block_number,
      ledger_units = excluded.ledger_units, chain_units = excluded.chain_units, next_at = excluded.next_at,
      searched_number = excluded.searched_number
    where balance_difference.chain_units - balance_difference.ledger_units
        is distinct from excluded.chain_units - excluded.ledger_units
      or balance_difference.searched_number <= coalesce(balance_difference.lowest_number, 0)
        and balance_difference.next_at <= case when balance_difference.found_at > ${aDayAgo} then ${anHourAgo}::timestamptz else ${aDayAgo}::timestamptz end
    returning xmax = 0 as "isNew"`.execute(db.root);
  return rows[0]?.isNew === true;
}

export async function advanceSearch(
  db: Db,
  difference: BalanceDifference,
  { searchedNumber, lowestNumber, nextAt }: { searchedNumber: bigint; lowestNumber: bigint; nextAt: Date },
): Promise<void> {
  await db.root
    .updateTable("balance_difference")
    .set({ searched_number: searchedNumber, lowest_number: lowestNumber, next_at: nextAt })
    .where("chain", "=", difference.chain)
    .where("inbox", "=", difference.inbox)
    .where("token", "=", difference.token)
    .where("searched_number", "=", difference.searched_number)
    .execute();
}

export async function deleteDifference(
  db: Db,
  { chain, inbox, token }: Pick<BalanceDifference, "chain" | "inbox" | "token">,
): Promise<boolean> {
  const { numDeletedRows } = await db.root
    .deleteFrom("balance_difference")
    .where("chain", "=", chain)
    .where("inbox", "=", inbox)
    .where("token", "=", token)
    .executeTakeFirst();
  return numDeletedRows > 0n;
}

/** What would be due after its pause was stored before a clock stepped back, and is due. */
function isDue(at: Date, pauseMs = PAUSE_MS_MAX) {
  return sql`(next_at <= ${at} or next_at > ${addMs(at, pauseMs + CLOCK_DIFFERENCE_MS_MAX)})`;
}
