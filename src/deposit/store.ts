import { sql } from "kysely";
import type { Db, Tx } from "../db/database.ts";
import { array, unnest, type ElementType } from "../db/parameters.ts";
import type { ConsumerCursorTable } from "../handover/handoverTables.ts";
import type { Caip2 } from "../kernel/caip.ts";
import type { MovementRow } from "../watch/movement.ts";
import { handedOver } from "../watch/store/namedIndexes.ts";
import type { SingleProviderTotal } from "./agreement/agreement.ts";
import type { Deposit } from "./deposit.ts";
import type { ChainHead } from "./finality.ts";
import type { Catalog } from "../catalog/catalog.ts";
import { listAges } from "../watch/finality.ts";
import { listHeights, onlyChain, type ChainSelection } from "../watch/store/chainReads.ts";

/** Movements into inboxes that changed after the cursor, in commit order. */
export async function listInboundMovements(tx: Tx, cursor: ConsumerCursorTable, limit: number): Promise<MovementRow[]> {
  return tx
    .selectFrom("movement")
    .selectAll()
    .where(handedOver(cursor.chain, "in"))
    .where(sql<boolean>`(revision, id) > (${cursor.revision}, ${cursor.movement_id})`)
    .orderBy("revision")
    .orderBy("id")
    .limit(limit)
    .execute();
}

/** A page of deposits with status `seen` in blocks up to `uptoBlock`, in block order, with their intents. */
export async function listPendingIntents(
  db: Db["root"],
  scope: { chain: Caip2; uptoBlock: bigint; after: { blockNumber: bigint; seq: bigint }; limit: number },
): Promise<{ intentId: string; blockNumber: bigint; seq: bigint }[]> {
  return (
    db
      .selectFrom("deposit")
      .select(["intent_id as intentId", "block_number as blockNumber", "seq"])
      .where("chain", "=", scope.chain)
      // A literal, so that every plan can use the partial index.
      .where(sql<boolean>`status = 'seen'`)
      .where("block_number", "<=", scope.uptoBlock)
      .where(sql<boolean>`(block_number, seq) > (${scope.after.blockNumber}, ${scope.after.seq})`)
      .orderBy("block_number")
      .orderBy("seq")
      .limit(scope.limit)
      .execute()
  );
}

/** The heads of the chains that SQL selects: as many as there are among them, whatever is configured. */
export async function listHeads(
  db: Db["root"],
  { chains }: Pick<Catalog, "chains">,
  only: ChainSelection,
): Promise<Map<string, ChainHead>> {
  const rules = chains.map(({ caip2, finality }) => ({ chain: caip2, seconds: listAges(finality) }));
  return listHeights(
    db,
    rules.filter(({ seconds }) => seconds.length > 0),
    only,
  );
}

export async function findHead(
  db: Db["root"],
  catalog: Pick<Catalog, "chains">,
  chain: Caip2,
): Promise<ChainHead | undefined> {
  return (await listHeads(db, catalog, onlyChain(chain))).get(chain);
}

/** Inserts new deposits and updates changed ones, in one statement. The movement identifies the deposit. */
export async function writeDeposits(tx: Tx, deposits: readonly Deposit[]): Promise<void> {
  if (deposits.length === 0) return;
  const names = sql.raw(Object.keys(DEPOSIT_COLUMNS).join());
  const changing = sql.raw(CHANGING_COLUMNS.map((name) => `${name} = excluded.${name}`).join());
  await sql`
    insert into deposit (${names}, account_id)
    select written.*, (select account_id from intent where intent.id = written.intent_id)
    from ${unnest("written", deposits, DEPOSIT_COLUMNS)}
    on conflict (movement_id) do update set ${changing}`.execute(tx);
}

/** The columns that this program writes, in the order of an insert. The compiler requires every one. */
const DEPOSIT_COLUMNS: Record<keyof Deposit, ElementType> = {
  id: "text",
  movement_id: "int8",
  intent_id: "text",
  chain: "text",
  token: "text",
  token_decimals: "int4",
  sender: "text",
  amount_units: "numeric",
  counted_units: "numeric",
  status: "text",
  reason: "text",
  late: "boolean",
  chain_tx: "text",
  identity: "text",
  block_number: "int8",
  block_hash: "text",
  required_confirmations: "int4",
  required_seconds: "int4",
  settlement_id: "text",
  seen_at: "timestamptz",
  confirmed_at: "timestamptz",
  counted_at: "timestamptz",
  counted_final_block: "int8",
  counted_next_block: "int8",
  counted_limit_units: "numeric",
  counted_elsewhere: "text",
  agreed_at: "timestamptz",
  updated_at: "timestamptz",
};

const CHANGING_COLUMNS = [
  "sender",
  "amount_units",
  "counted_units",
  "status",
  "reason",
  "block_number",
  "block_hash",
  "required_confirmations",
  "required_seconds",
  "settlement_id",
  "confirmed_at",
  "counted_at",
  "counted_final_block",
  "counted_next_block",
  "counted_limit_units",
  "counted_elsewhere",
  "agreed_at",
  "updated_at",
] as const satisfies readonly (keyof Deposit)[];

/**
 * Sets the settlement that swept the deposits, or null after a reorg. The settlement station calls it under the
 * intent's lock.
 */
export async function assignSettlement(
  tx: Tx,
  depositIds: readonly string[],
  settlementId: string | null,
): Promise<void> {
  if (depositIds.length === 0) return;
  await tx
    .updateTable("deposit")
    .set({ settlement_id: settlementId })
    .where(sql<boolean>`id = any(${array(depositIds, "text")})`)
    .execute();
}

type PlaceOnChain = { blockNumber: bigint; place: bigint };

/** A settlement, and the places on its chain between which its sweep took every deposit. */
export type SweptRange = {
  settlementId: string;
  intentId: string;
  token: string;
  after: PlaceOnChain;
  before: PlaceOnChain;
};

/** Deposits that one call assigns to a sweep. Planning assigns the others, so that the statement stays short. */
const SWEPT_MAX = 10_000;

/**
 * Assigns to each settlement the deposits between its places, counted or not, and no other: a sweep that is mined again
 * at another place may no longer include its earlier deposits. The settlement station calls it under the locks of the
 * intents.
 */
export async function assignSweptDeposits(tx: Tx, chain: Caip2, ranges: readonly SweptRange[]): Promise<void> {
  if (ranges.length === 0) return;
  const column = (valueOf: (range: SweptRange) => string | bigint, type: ElementType) =>
    array(ranges.map(valueOf), type);
  const swept = sql`unnest(
      ${column((range) => range.settlementId, "text")}, ${column((range) => range.intentId, "text")},
      ${column((range) => range.token, "text")},
      ${column((range) => range.after.blockNumber, "int8")}, ${column((range) => range.after.place, "int8")},
      ${column((range) => range.before.blockNumber, "int8")}, ${column((range) => range.before.place, "int8")}
    ) as swept (settlement_id, intent_id, token, after_block, after_place, block_number, place)`;
  await sql`
    update deposit set settlement_id = null where id = any(array(
      select released.id from ${swept} cross join lateral (
        select deposit.id from deposit join movement arrival on arrival.id = deposit.movement_id
        where deposit.settlement_id = swept.settlement_id and (deposit.status = 'dropped'
          or (arrival.block_number, arrival.place) <= (swept.after_block, swept.after_place)
          or (arrival.block_number, arrival.place) >= (swept.block_number, swept.place))
        offset 0
      ) as released))`.execute(tx);
  // The deposits of an inbox are fewer than its movements, of which anybody can make many.
  await sql`
    update deposit set settlement_id = taken.settlement_id from (
      select swept.settlement_id, found.id from ${swept} cross join lateral (
        select deposit.id from deposit join movement arrival on arrival.id = deposit.movement_id
        where deposit.intent_id = swept.intent_id and deposit.chain = ${chain} and deposit.token = swept.token
          and deposit.status <> 'dropped' and deposit.settlement_id is distinct from swept.settlement_id
          and deposit.block_number >= swept.after_block
          and (arrival.block_number, arrival.place) > (swept.after_block, swept.after_place)
          and deposit.block_number <= swept.block_number
          and (arrival.block_number, arrival.place) < (swept.block_number, swept.place)
        order by deposit.block_number
        limit ${SWEPT_MAX}
      ) as found
    ) as taken where deposit.id = taken.id`.execute(tx);
}

/** Sums of counted deposits without provider agreement, by intent, chain and token decimals. */
export async function listSingleProviderTotals(tx: Tx, intentIds: readonly string[]): Promise<SingleProviderTotal[]> {
  const { rows } = await sql<SingleProviderTotal>`
    select intent_id as "intentId", chain, token_decimals as decimals, sum(amount_units) as units from deposit
    where status = 'counted' and agreed_at is null and intent_id = any(${array(intentIds, "text")})
    group by intent_id, chain, token_decimals`.execute(tx);
  return rows;
}
