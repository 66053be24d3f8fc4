import { sql } from "kysely";
import { EVENT_TYPES } from "../event/event.ts";
import { eventsExpiredBefore } from "../event/store.ts";
import type { Check } from "../ledger/check.ts";
import { reachesPrice } from "./paymentStatus.ts";

const IS_PRICE_REACHED = reachesPrice(sql`intent.counted_units`);

export const intentChecks: readonly Check[] = [
  {
    name: "intent-has-inbox",
    meaning: "An intent's own inbox is missing from the inbox table, or has another address there.",
    query: sql`
      select intent.id as intent, intent.inbox_address as pinned, inbox.address as recorded
      from intent full join (select * from inbox where kind = 'deposit') as inbox on inbox.intent_id = intent.id
      where intent.inbox_address is distinct from inbox.address`,
  },
  {
    name: "settled-only-at-price",
    meaning: "A one-time intent is settled below its price, or is active although its price is reached.",
    query: sql`
      select intent.id as intent, intent.status, intent.counted_units as counted, intent.price_token_units as price
      from intent
      where intent.one_time and (
        (intent.status = 'active' and ${IS_PRICE_REACHED})
        or (intent.status = 'settled' and not ${IS_PRICE_REACHED} and intent.settled_at > ${eventsExpiredBefore} and not exists (
          select from event where event.intent_number = intent.seq and event.type = ${sql.lit(EVENT_TYPES["payment_intent.reversed"])})))`,
  },
  {
    name: "one-intent-per-destination",
    meaning: "Two active intents of an account occupy one destination.",
    query: sql`
      select account_id as account, payout_namespace, payout_chain_reference, payout_wallet, payout_token, count(*) as intents
      from intent where status = 'active' and occupies
      group by account_id, payout_namespace, payout_chain_reference, payout_wallet, payout_token having count(*) > 1`,
  },
  {
    name: "intent-has-event",
    meaning: "An intent was created, settled or archived without an event.",
    query: sql`
      select intent.id as intent, expected.name as missing
      from intent cross join lateral (values
        ('created', ${sql.lit(EVENT_TYPES["payment_intent.created"])}, intent.created_at),
        ('settled', ${sql.lit(EVENT_TYPES["payment_intent.settled"])}, intent.settled_at),
        ('archived', ${sql.lit(EVENT_TYPES["payment_intent.archived"])}, intent.archived_at)
      ) as expected (name, type, at)
      where expected.at > ${eventsExpiredBefore}
        and not exists (select from event where event.intent_number = intent.seq and event.type = expected.type)`,
  },
];
