import { sql } from "kysely";
import type { Check } from "./check.ts";

// Invariants of the ledger's own rows. Triggers enforce all of them; the checks find rows that were written past the
// triggers.

export const ledgerChecks: readonly Check[] = [
  {
    name: "posting-sums-to-zero",
    meaning: "The entries of a posting do not sum to zero, or their number differs from entry_count.",
    query: sql`
      select posting.id as posting, posting.reference, sums.asset, sums.units
      from ledger_posting posting
      left join (
        select posting_id, asset, sum(amount_units) as units, sum(count(*)) over (partition by posting_id) as entry_count
        from ledger_entry group by posting_id, asset) as sums on sums.posting_id = posting.id
      where sums.units is distinct from 0 or sums.entry_count is distinct from posting.entry_count`,
  },
  {
    name: "entry-has-posting",
    meaning: "An entry belongs to no posting.",
    query: sql`
      select entry.posting_id as posting, entry.place, entry.account, entry.amount_units as units
      from ledger_entry entry left join ledger_posting posting on posting.id = entry.posting_id where posting.id is null`,
  },
  {
    name: "asset-sums-to-zero",
    meaning: "The entries of an asset do not sum to zero.",
    query: sql`select asset, sum(amount_units) as units from ledger_entry group by asset having sum(amount_units) <> 0`,
  },
  {
    name: "custody-not-negative",
    meaning: "The entries of an inbox sum to a negative balance.",
    query: sql`
      select account, asset, sum(amount_units) as units from ledger_entry
      where account like 'inbox:%'
      group by account, asset having sum(amount_units) < 0`,
  },
  {
    name: "balance-matches-entries",
    meaning: "A balance is not the sum of its entries.",
    query: sql`
      select coalesce(balance.holder, drawn.holder) as holder, coalesce(balance.account, drawn.account) as account,
        coalesce(balance.asset, drawn.asset) as asset, balance.balance_units as balance, drawn.units as entries
      from ledger_balance balance full join (
        select case when entry.account like 'bridge:%' then entry.account else posting.custody end as holder,
          entry.asset, entry.account, sum(entry.amount_units) as units
        from ledger_entry entry join ledger_posting posting on posting.id = entry.posting_id
        where entry.account like 'inbox:%' or entry.account like 'bridge:%' or entry.account like 'unseen:%'
          or entry.account = 'loss:reorg'
        group by 1, 2, 3) as drawn
      on (drawn.holder, drawn.asset, drawn.account) = (balance.holder, balance.asset, balance.account)
      where coalesce(balance.balance_units, 0) <> coalesce(drawn.units, 0)`,
  },
  {
    name: "shortage-covered-first",
    meaning: "An inbox has a positive balance while a shortage of it is open.",
    query: sql`
      select inbox.holder, inbox.asset, inbox.balance_units as held, missing.account, missing.balance_units as missing
      from ledger_balance inbox join ledger_balance missing
        on missing.holder = inbox.holder and missing.asset = inbox.asset and missing.balance_units < 0
      where inbox.account = inbox.holder and inbox.balance_units > 0`,
  },
  {
    name: "reversal-mirrors-posting",
    meaning: "A reversal does not mirror the posting that it reverses.",
    query: sql`
      select reversal.id as posting, reversal.reverses
      from ledger_posting reversal
      left join ledger_posting origin on origin.id = reversal.reverses and origin.reverses is null
      left join ledger_entry mirrored on mirrored.posting_id = reversal.id and mirrored.place = 1
      left join ledger_entry original on original.posting_id = origin.id and original.place = 1
      where reversal.reverses is not null
        and ((origin.custody, origin.chain, original.account, original.asset, original.amount_units)
          is distinct from (reversal.custody, reversal.chain, mirrored.account, mirrored.asset, -mirrored.amount_units) or origin.id is null)`,
  },
  {
    name: "posting-is-unique",
    meaning: "A reference is booked twice.",
    query: sql`
      select posting.reference, count(*) as postings from ledger_posting posting
      where posting.reverses is null and not exists (select from ledger_posting reversal where reversal.reverses = posting.id)
      group by posting.reference having count(*) > 1`,
  },
];
