import { sql, type RawBuilder } from "kysely";
import type { Tx } from "../db/database.ts";

// All SQL that writes the ledger. One statement inserts a posting and its entries, as the database requires; triggers
// compute the balances.

/**
 * A query for gains and losses of inboxes, one row for each posting:
 * `reference` text, `version` int8: the booked fact and the version of its booking; unique together
 * `reverses` int8: the posting that this one reverses, or null
 * `custody` text: the account of the inbox
 * `counter` text: the account at the other end
 * `asset` text: CAIP-19, with the token in its stored form
 * `change_units` numeric: the gain of the inbox; negative for a loss
 * `chain` text, `chain_tx` text, `block_number` int8: the position on the chain
 * `place` int8: the order of the postings
 */
export type TransferQuery = RawBuilder<unknown>;

/**
 * An inbox never goes negative: the amount below zero goes to an account for its cause. Either more left the inbox than
 * was seen arriving (unseen), or a reorganisation removed a deposit that had already been paid out. Later gains of the
 * inbox fill that account first.
 */
type Shortage = { growingAccount: RawBuilder<string>; otherAccount: RawBuilder<string> };

type PostingBatch = {
  transfers: TransferQuery;
  /** SQL before the statement, such as the comment that names it. */
  statementPrefix: RawBuilder<unknown>;
  at: Date;
  shortage: Shortage;
};

const UNSEEN_ACCOUNT = sql<string>`'unseen:' || chain`;
const REORG_LOSS_ACCOUNT = sql<string>`'loss:reorg'`;

/**
 * Books all of `transfers` in their order, in one statement. The caller ensures that no other transaction books for the
 * same inboxes meanwhile. Planning this statement is expensive, so a unique `name` prepares it once per connection.
 */
export async function postTransfers(
  tx: Tx,
  { transfers, name, at }: { transfers: TransferQuery; name: string; at: Date },
): Promise<void> {
  await insertPostings(tx, {
    transfers,
    statementPrefix: sql.raw(`/* named: ${name} */`),
    at,
    shortage: { growingAccount: UNSEEN_ACCOUNT, otherAccount: REORG_LOSS_ACCOUNT },
  });
}

/**
 * Reverses the open postings of these references (a query of texts), the newest first. Returns the number of reversals.
 * References without an open posting are skipped.
 */
export async function reversePostings(
  tx: Tx,
  { references, at }: { references: RawBuilder<unknown>; at: Date },
): Promise<number> {
  const transfers = sql`
    select 'reversal:' || posting.id as reference, 1::bigint as version, posting.id as reverses, posting.custody,
      counter.account as counter, counter.asset, counter.amount_units as change_units,
      posting.chain, posting.chain_tx, posting.block_number, -posting.id as place
    from (select distinct reference from (${references}) as reversed (reference)) as reversed
    cross join lateral (
      select * from ledger_posting posting
      where posting.reference = reversed.reference and coalesce(posting.reverses, 0) = 0
        and (select reversal.id from ledger_posting reversal where reversal.reverses = posting.id) is null offset 0
    ) as posting
    join ledger_entry counter on counter.posting_id = posting.id and counter.place = 1`;
  return insertPostings(tx, {
    transfers,
    statementPrefix: sql``,
    at,
    shortage: { growingAccount: REORG_LOSS_ACCOUNT, otherAccount: UNSEEN_ACCOUNT },
  });
}

/**
 * `net` is the inbox balance minus its shortages. A running sum carries it from posting to posting, so that each is
 * split as if booked alone: the part above zero belongs to the inbox, the part below is a shortage, and the other cause
 * is filled first. Returns the number of postings.
 */
async function insertPostings(tx: Tx, { transfers, statementPrefix, at, shortage }: PostingBatch): Promise<number> {
  const { rows } = await sql<{ postings: bigint }>`${statementPrefix}
    with transfer as materialized (${transfers}),
    running as (
      select transfer.*, coalesce(opening.missing, 0) as missing, coalesce(opening.net, 0) + sum(change_units) over (
        partition by custody, transfer.asset order by place) as net_after
      from transfer cross join lateral (
        select sum(balance_units) as net, -sum(balance_units) filter (where account = ${shortage.otherAccount}) as missing
        from ledger_balance where holder = custody and ledger_balance.asset = transfer.asset
      ) as opening
    ), divided as (
      select *,
        greatest(net_after, 0) - greatest(net_after - change_units, 0) as held_change,
        greatest(change_units - net_after, 0) - greatest(-net_after, 0) as missing_change
      from running
    ), filled as (
      select *, sum(greatest(missing_change, 0)) over (partition by custody, asset order by place) as filled_units from divided
    ), split as (
      select *, least(missing, filled_units) - least(missing, filled_units - greatest(missing_change, 0)) as other_change from filled
    ), numbered as materialized (
      select *, nextval('ledger_posting_id_seq') as id from (select * from split order by place) as ordered
    ), posted as (
      insert into ledger_posting
        (id, reference, version, reverses, custody, chain, chain_tx, block_number, entry_count, booked_at)
      overriding system value
      select id, reference, version, reverses, custody, chain, chain_tx, block_number,
        1 + (held_change <> 0)::int + (missing_change <> other_change)::int + (other_change <> 0)::int, ${at}::timestamptz
      from numbered order by id
    ), entered as (
      insert into ledger_entry (posting_id, place, account, asset, amount_units)
      select id, line.place, line.account, asset, line.units
      from numbered cross join lateral (values
        (1, counter, -change_units),
        (2, custody, held_change),
        (2 + (held_change <> 0)::int, ${shortage.growingAccount}, missing_change - other_change),
        (2 + (held_change <> 0)::int + (missing_change <> other_change)::int, ${shortage.otherAccount}, other_change)
      ) as line (place, account, units)
      where line.units <> 0
    ) select count(*) as postings from numbered`.execute(tx);
  return Number(rows[0]?.postings ?? 0n);
}
