import { CompiledQuery, sql, type RawBuilder } from "kysely";
import type { Db } from "../../db/database.ts";
import { namespaceOf, referenceOf, type Caip2 } from "../../kernel/caip.ts";
import type { IntentStatus } from "../intentTables.ts";
import type { PaymentStatus } from "../paymentStatus.ts";
import { intentColumns, type IntentRow } from "../store.ts";

// A page reads about as many rows as it returns, whatever its filters: test/cost holds it to that.

export type IntentPage = {
  accountId: string;
  belowSeq: bigint | undefined;
  limit: number;
} & IntentFilter;

/** Undefined fields filter nothing. The times are exclusive. */
export type IntentFilter = {
  merchantReference: string | undefined;
  status?: IntentStatus | undefined;
  paymentStatus?: PaymentStatus | undefined;
  createdAfter?: Date | undefined;
  createdBefore?: Date | undefined;
} & NarrowFilter;

/** Filters without an index: a page looks through `LOOKED_MAX` intents at most, and may be short although more match. */
export type NarrowFilter = {
  /** Of the payout. */
  chain?: Caip2 | undefined;
  /** Inclusive, of the price; one with any sum has none. */
  priceMin?: bigint | undefined;
  priceMax?: bigint | undefined;
};

/** Few enough that a page without a match takes a few milliseconds. */
export const LOOKED_MAX = 1_000;

const STATUSES: readonly IntentStatus[] = ["active", "settled", "archived"];
const PAYMENT_STATUSES: readonly PaymentStatus[] = ["unpaid", "partial", "paid", "overpaid"];

/** The same decisions as in paymentStatus.ts, and the same expression as in the index intent_by_status. */
const PAYMENT_STATUS = sql.raw(`(case
  when counted_units = 0 then 'unpaid'
  when price_token_units is null then 'paid'
  when counted_units * 10000 < price_token_units * (10000 - underpay_tolerance_bps) then 'partial'
  when one_time and counted_units > price_token_units then 'overpaid'
  else 'paid' end)`);

/** Above every sequence. */
const SEQ_MAX = 2n ** 63n - 1n;
/** Without a filter, which is most of the calls, a page is one text that the server parses and plans once a session. */
const LIST_ALL = `/* shared: list_intents */
  select ${intentColumns("intent")} from intent where account_id = $1 and seq < $2::int8 order by seq desc limit $3::int8`;

/** An account's intents below `belowSeq`, newest first. */
export async function listIntentPage(db: Db, page: IntentPage): Promise<IntentRow[]> {
  const { accountId, belowSeq = SEQ_MAX, limit, merchantReference, status, paymentStatus } = page;
  const { createdAfter, createdBefore } = page;
  const { chain, priceMin, priceMax } = page;
  const filters = [merchantReference, status, paymentStatus, createdAfter, createdBefore, chain, priceMin, priceMax];
  if (filters.every((filter) => filter === undefined)) {
    const query = CompiledQuery.raw(LIST_ALL, [accountId, belowSeq, limit]);
    return (await db.root.executeQuery<IntentRow>(query)).rows;
  }
  if (isNarrow(page)) return listLooked(db, page);
  const isByStatus = merchantReference === undefined && (status !== undefined || paymentStatus !== undefined);
  const matching = sql`account_id = ${accountId} and ${sql.join(conditionsOf(page), sql` and `)}`;
  if (!isByStatus) {
    const statement = sql<IntentRow>`select * from intent where ${matching} ${matchStatus(page)} order by seq desc limit ${limit}`;
    return (await statement.execute(db.root)).rows;
  }
  // Each pair of statuses is a range of the index in the order of the page, so a page is among the first rows of each.
  const pairs = (status === undefined ? STATUSES : [status]).flatMap((one) =>
    (paymentStatus === undefined ? PAYMENT_STATUSES : [paymentStatus]).map(
      (other) =>
        sql`(select * from intent where ${matching} and status = ${one} and ${PAYMENT_STATUS} = ${other} order by seq desc limit ${limit})`,
    ),
  );
  const statement = sql<IntentRow>`select * from (${sql.join(pairs, sql` union all `)}) as intent order by seq desc limit ${limit}`;
  return (await statement.execute(db.root)).rows;
}

export function isNarrow({ chain, priceMin, priceMax }: NarrowFilter): boolean {
  return [chain, priceMin, priceMax].some((filter) => filter !== undefined);
}

/** Those of the next `LOOKED_MAX` intents that match all filters. */
async function listLooked(db: Db, page: IntentPage): Promise<IntentRow[]> {
  const { accountId, belowSeq = SEQ_MAX, limit, chain, priceMin, priceMax } = page;
  const conditions = [
    ...(chain === undefined
      ? []
      : [sql`payout_namespace = ${namespaceOf(chain)} and payout_chain_reference = ${referenceOf(chain)}`]),
    ...(priceMin === undefined ? [] : [sql`price_units >= ${priceMin}`]),
    ...(priceMax === undefined ? [] : [sql`price_units <= ${priceMax}`]),
  ];
  const { rows } = await sql<IntentRow>`
    select * from (
      select * from intent where ${sql.join(conditionsOf({ ...page, belowSeq }), sql` and `)} and account_id = ${accountId}
      order by seq desc limit ${LOOKED_MAX}
    ) as looked where ${sql.join(conditions, sql` and `)} ${matchStatus(page)} order by seq desc limit ${limit}`.execute(
    db.root,
  );
  return rows;
}

/**
 * The sequence of the last intent that such a page looks through; undefined when it looks through all that there are.
 */
export async function findLookedEnd(db: Db, page: Omit<IntentPage, "limit">): Promise<bigint | undefined> {
  const { accountId, belowSeq = SEQ_MAX } = page;
  const { rows } = await sql<{ seq: bigint }>`
    select seq from intent where ${sql.join(conditionsOf({ ...page, limit: 0, belowSeq }), sql` and `)} and account_id = ${accountId}
    order by seq desc offset ${LOOKED_MAX - 1} limit 1`.execute(db.root);
  return rows[0]?.seq;
}

/** Few intents have the same reference, so its index comes first and their statuses are compared after. */
function matchStatus({ status, paymentStatus }: IntentPage): RawBuilder<unknown> {
  const conditions = [
    ...(status === undefined ? [] : [sql`and status = ${status}`]),
    ...(paymentStatus === undefined ? [] : [sql`and ${PAYMENT_STATUS} = ${paymentStatus}`]),
  ];
  return sql.join(conditions, sql` `);
}

function conditionsOf({
  accountId,
  belowSeq,
  merchantReference,
  createdAfter,
  createdBefore,
}: IntentPage): RawBuilder<unknown>[] {
  return [
    sql`true`,
    ...(belowSeq === undefined ? [] : [sql`seq < ${belowSeq}`]),
    ...(merchantReference === undefined ? [] : [sql`merchant_reference = ${merchantReference}`]),
    ...(createdAfter === undefined
      ? []
      : [sql`${CREATED_AT} > ${createdAfter}`, sql`seq > ${seqAround(accountId, "last", createdAfter)}`]),
    ...(createdBefore === undefined
      ? []
      : [sql`${CREATED_AT} < ${createdBefore}`, sql`seq < ${seqAround(accountId, "first", createdBefore)}`]),
  ];
}

/** An expression, so that no plan sorts all intents of a long time by `seq`. */
const CREATED_AT = sql.raw("(created_at + interval '0')");

/**
 * Sequence and time of creation grow together, except while the database's clock is set back. So the intents of a time
 * are a range of the sequence. It begins and ends two hours outside, which allows for a clock that was set back by an
 * hour.
 */
function seqAround(accountId: string, edge: "first" | "last", time: Date): RawBuilder<unknown> {
  return edge === "first"
    ? sql`coalesce((select seq from intent where account_id = ${accountId} and created_at >= ${time}::timestamptz + interval '2 hours'
        order by created_at, seq limit 1), 9223372036854775807)`
    : sql`coalesce((select seq from intent where account_id = ${accountId} and created_at <= ${time}::timestamptz - interval '2 hours'
        order by created_at desc, seq desc limit 1), 0)`;
}
