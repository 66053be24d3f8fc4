import { CompiledQuery } from "kysely";
import { assert } from "../../../kernel/assert.ts";
import { parseInstant } from "../../../kernel/clock.ts";
import type { Caip2, Namespace } from "../../../kernel/caip.ts";
import type { Db } from "../../../db/database.ts";
import type { ListedDepositView } from "../../../deposit/depositTables.ts";
import { intentColumns, type IntentRow } from "../../../intent/store.ts";

/** A transfer into one of the intent's inboxes. Dust has no id. */
export type TransferRow = Omit<ListedDepositView, "movement_id">;

/** Everything of one intent that its page shows. */
export type StateRow = {
  intent: IntentRow;
  merchantName: string;
  support: string | null;
  hasLogo: boolean;
  /** Final money in the payout asset below the minimum, which has not counted yet. */
  waitingUnits: bigint;
  inboxes: { namespace: Namespace; reference: string; token: string; address: string }[];
  /**
   * Newest first: the newest deposits, and the newest transfers of any size. More than are shown, if there are more.
   */
  transfers: TransferRow[];
  /** The last block that the watcher has read on each chain. */
  heads: ReadonlyMap<Caip2, bigint>;
};

type JsonTransfer = Record<string, string | number | boolean | null>;
type JoinedRow = IntentRow & {
  merchant_name: string;
  support: string | null;
  has_logo: boolean;
  waiting_units: bigint;
  inboxes: StateRow["inboxes"];
  transfers: JsonTransfer[];
  heads: Record<Caip2, string>;
};

export const TRANSFERS_SHOWN_MAX = 10;

// The ranges of one id keep the planner on the indexes that begin with it: with an equality it may walk all rows in the
// order of their keys. Deposits have a list of their own, so that a flood of dust hides none of them.
const READ_STATES = `/* named: read_checkout_states */
  select ${intentColumns("intent")}, account.name as merchant_name, brand.support, brand.logo_type is not null as has_logo,
    coalesce((select holding.waiting_units from holding
      where holding.intent_id = intent.id and holding.chain = intent.payout_namespace || ':' || intent.payout_chain_reference
        and holding.token = intent.payout_token), 0) as waiting_units,
    coalesce((select json_agg(json_build_object('namespace', namespace, 'reference', reference, 'token', token, 'address', address)
        order by issued_at, namespace, reference, token)
      from source_inbox where source_inbox.intent_id = intent.id), '[]') as inboxes,
    coalesce((select json_agg(json_build_object(
        'id', listed.id, 'intent_id', listed.intent_id, 'chain', listed.chain, 'token', listed.token,
        'token_decimals', listed.token_decimals, 'sender', listed.sender, 'amount_units', listed.amount_units::text,
        'counted_units', listed.counted_units::text, 'status', listed.status, 'reason', listed.reason, 'late', listed.late,
        'chain_tx', listed.chain_tx, 'identity', listed.identity, 'block_number', listed.block_number::text,
        'block_hash', listed.block_hash, 'required_confirmations', listed.required_confirmations,
        'required_seconds', listed.required_seconds,
        'settlement_id', listed.settlement_id, 'seen_at', listed.seen_at, 'counted_at', listed.counted_at,
        'inbox', listed.inbox, 'deployment', listed.deployment)
        order by page.movement_id desc)
      from (
        select movement_id from (
          select deposit.movement_id from deposit
          where deposit.intent_id >= intent.id and deposit.intent_id <= intent.id
          order by deposit.intent_id desc, deposit.seq desc limit ${TRANSFERS_SHOWN_MAX + 1}) as newest_deposit
        union
        select id from (
          select movement.id from movement
          where (movement.intent_id || '') >= intent.id and (movement.intent_id || '') <= intent.id and movement.direction = 'in'
            and movement.explained_by is null
          order by (movement.intent_id || ''), movement.id desc limit ${TRANSFERS_SHOWN_MAX + 1}) as newest_movement
      ) as page cross join lateral (
        select * from listed_deposit where listed_deposit.movement_id = page.movement_id offset 0
      ) as listed), '[]') as transfers,
    coalesce((select json_object_agg(chain_cursor.chain, chain_cursor.number::text) from chain_cursor), '{}') as heads
  from intent cross join lateral (select * from account where account.id = intent.account_id offset 0) as account
  left join lateral (select * from account_brand where account_brand.account_id = intent.account_id offset 0) as brand on true
  where intent.id = any($1::text[])`;

/**
 * The states of intents in one statement, which reads in proportion to their number, whatever the traffic. Unknown ids
 * are left out.
 */
export async function readStateRows(db: Db, intentIds: readonly string[]): Promise<StateRow[]> {
  const { rows } = await db.root.executeQuery<JoinedRow>(CompiledQuery.raw(READ_STATES, [intentIds]));
  return rows.map(toStateRow);
}

function toStateRow({
  merchant_name,
  support,
  has_logo,
  waiting_units,
  inboxes,
  transfers,
  heads,
  ...intent
}: JoinedRow): StateRow {
  return {
    intent,
    merchantName: merchant_name,
    support,
    hasLogo: has_logo,
    waitingUnits: waiting_units,
    inboxes,
    transfers: transfers.map(toTransferRow),
    heads: new Map(Object.entries(heads).map(([chain, number]) => [chain as Caip2, BigInt(number)])),
  };
}

/** JSON has no large integers and no times, so they come as texts. */
function toTransferRow(row: JsonTransfer): TransferRow {
  const toBigint = (value: unknown) => BigInt(String(value));
  return {
    ...(row as unknown as TransferRow),
    amount_units: toBigint(row["amount_units"]),
    counted_units: toBigint(row["counted_units"]),
    block_number: toBigint(row["block_number"]),
    seen_at: toInstant(row["seen_at"]),
    counted_at: row["counted_at"] === null ? null : toInstant(row["counted_at"]),
  };
}

function toInstant(value: unknown): Date {
  const instant = parseInstant(String(value));
  assert(instant, `the database returned ${String(value)} as a time`);
  return instant;
}
