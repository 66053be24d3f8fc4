import { sql, type RawBuilder } from "kysely";
import type { OpsFound, OpsSearch } from "@tributary/dashboard/ops/opsState";
import { array } from "../../db/parameters.ts";
import { listDeposits } from "../../deposit/listDeposits.ts";
import { findIntentById, type IntentRow } from "../../intent/store.ts";
import { paymentStatus } from "../../intent/paymentStatus.ts";
import { caip2, displayAddress } from "../../kernel/caip.ts";
import { idBytes } from "../../kernel/ids.ts";
import { formatUnits, PRICE_DECIMALS } from "../../kernel/units.ts";
import type { World } from "../../world.ts";
import { amountOf, chainNameOf } from "./readMoney.ts";

type SearchWorld = Pick<World, "db" | "config" | "catalog">;

const QUERY_CHARACTERS_MAX = 200;
/** Intents that one search shows. */
const FOUND_MAX = 10;
/** Deposits of one sender that are looked at: an exchange pays from one address. */
const OF_SENDER_MAX = 100;
const ROWS_MAX = 20;

/** One lookup by the form of the text, through an index each. */
export async function searchEverything(world: SearchWorld, text: string): Promise<OpsSearch> {
  const query = text.trim().slice(0, QUERY_CHARACTERS_MAX);
  const ids = query === "" ? [] : await findIntentIds(world, query);
  const found = await Promise.all(ids.slice(0, FOUND_MAX).map((id) => readFound(world, id)));
  return { query, found: found.flatMap((each) => each ?? []), hasMore: ids.length > FOUND_MAX };
}

async function findIntentIds(world: SearchWorld, query: string): Promise<string[]> {
  const { db } = world;
  if (query.startsWith("pi_")) return (await findIntentById(db, query)) === undefined ? [] : [query];
  if (query.startsWith("dep_")) return listIds(db, sql`select intent_id as id from deposit where id = ${query}`);
  if (query.startsWith("set_")) return listIds(db, sql`select intent_id as id from settlement where id = ${query}`);
  if (query.startsWith("acct_")) return listIds(db, latestOfAccount(query));
  const event = idBytes("evt", query);
  if (event !== undefined)
    return listIds(
      db,
      sql`select intent.id from event join intent on intent.seq = event.intent_number where event.id = ${event}`,
    );
  const stored = /^0x[0-9a-f]+$/i.test(query) ? query.toLowerCase() : query;
  if (!/^[0-9a-z]{32,90}$/i.test(stored)) return [];
  return stored.length <= 44 ? findByAddress(db, stored) : findByHash(world, stored);
}

function latestOfAccount(accountId: string) {
  return sql`select id from intent where account_id = ${accountId} order by seq desc limit ${FOUND_MAX + 1}`;
}

/** Of an address: its intent where it is an inbox, else the intents that it paid last. */
async function findByAddress(db: World["db"], address: string): Promise<string[]> {
  const owners = await listIds(
    db,
    sql`select distinct intent_id as id from inbox
    where namespace in ('eip155', 'solana') and address = ${address} limit ${FOUND_MAX + 1}`,
  );
  if (owners.length > 0) return owners;
  return listIds(
    db,
    sql`select intent_id as id from (select intent_id, seq from deposit where sender = ${address}
      order by seq desc limit ${OF_SENDER_MAX}) as latest
      group by intent_id order by max(seq) desc limit ${FOUND_MAX + 1}`,
  );
}

/** Of a transaction: the intents whose inboxes it moved money of, or that a transaction of the service settles. */
async function findByHash({ db, config }: SearchWorld, chainTx: string): Promise<string[]> {
  const chains = array(
    config.chains.map(({ caip2: chain }) => chain),
    "text",
  );
  return listIds(
    db,
    sql`select distinct intent_id as id from (
      (select intent_id from movement where chain = any(${chains}) and chain_tx = ${chainTx} limit ${OF_SENDER_MAX})
      union all
      (select settlement.intent_id from outgoing_attempt join settlement on settlement.outgoing_id = outgoing_attempt.outgoing_id
        where outgoing_attempt.chain_tx = ${chainTx} and settlement.status not in ('landed', 'failed') limit ${OF_SENDER_MAX})
    ) as found limit ${FOUND_MAX + 1}`,
  );
}

async function listIds(db: World["db"], statement: RawBuilder<unknown>): Promise<string[]> {
  const { rows } = await (statement as RawBuilder<{ id: string }>).execute(db.root);
  return rows.map(({ id }) => id);
}

async function readFound(world: SearchWorld, intentId: string): Promise<OpsFound | undefined> {
  const { db, catalog } = world;
  const intent = await findIntentById(db, intentId);
  if (intent === undefined) return undefined;
  const [account, deposits, settlements] = await Promise.all([
    db.root.selectFrom("account").select("name").where("id", "=", intent.account_id).executeTakeFirst(),
    listDeposits(world, { intent, limit: ROWS_MAX }),
    db.root
      .selectFrom("settlement")
      .selectAll()
      .where(sql<string>`(intent_id || '')`, "=", intentId)
      .orderBy("seq", "desc")
      .limit(ROWS_MAX)
      .execute(),
  ]);
  const chain = caip2(intent.payout_namespace, intent.payout_chain_reference);
  const received = amountOf(world, {
    chain,
    token: intent.payout_token,
    units: intent.received_units,
    decimals: intent.payout_decimals,
  });
  return {
    ...describeIntent(intent, received.symbol),
    accountName: account?.name ?? "",
    received,
    deposits: deposits.map((deposit) => ({
      depositId: deposit.id,
      amount: amountOf(world, { ...deposit, units: deposit.amount_units, decimals: deposit.token_decimals }),
      chainName: chainNameOf(world, deposit.chain),
      status: deposit.status,
      reason: deposit.reason,
      txHash: deposit.chain_tx,
      seenAt: deposit.seen_at.toISOString(),
    })),
    settlements: settlements.map((settlement) => ({
      settlementId: settlement.id,
      net: settlement.net_units === null ? null : amountOf({ catalog }, { ...settlement, units: settlement.net_units }),
      chainName: chainNameOf(world, settlement.chain),
      status: settlement.status,
      reason: settlement.reason,
      txHash: settlement.landed_chain_tx ?? settlement.chain_tx,
      createdAt: settlement.created_at.toISOString(),
    })),
  };
}

function describeIntent(intent: IntentRow, symbol: string) {
  const chain = caip2(intent.payout_namespace, intent.payout_chain_reference);
  return {
    intentId: intent.id,
    accountId: intent.account_id,
    merchantReference: intent.merchant_reference,
    status: intent.status,
    paymentStatus: paymentStatus(intent),
    price: intent.price_units === null ? null : { decimal: formatUnits(intent.price_units, PRICE_DECIMALS), symbol },
    inboxAddress: displayAddress(chain, intent.inbox_address),
    createdAt: intent.created_at.toISOString(),
  };
}
