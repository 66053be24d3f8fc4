import { sql } from "kysely";
import { watchedTokens } from "../../catalog/catalog.ts";
import type { Chain } from "../../chain/chain.ts";
import { ProviderFailed, type ChainReader, type Holdings } from "../../chain/reader.ts";
import type { Db } from "../../db/database.ts";
import { array } from "../../db/parameters.ts";
import { assetSql } from "../../ledger/assetSql.ts";
import type { Caip2 } from "../../kernel/caip.ts";
import { blocksIn, PROVIDER_LAG, type BlockSpan } from "../blockTime.ts";
import type { WatchWorld } from "../watchWorld.ts";
import { listKnownBlocks } from "../store/chainReads.ts";
import { findCursor, type CursorRow, type KnownBlock } from "../store/store.ts";
import type { ComparedBalance } from "./comparedBalance.ts";
import type { ComparedInbox } from "./passPages.ts";

// Compares inboxes with the ledger at one block. The ledger may be complete up to a later block, so what it booked in
// between is subtracted. Both sums are read by an index and never over the whole history.

/**
 * Both balances of each inbox and token; the block is undefined when no block's balances can be read now. Where
 * providers keep no past balances it is the cursor, and a balance names the block that it is at least as new as.
 */
export type Comparison = { block: KnownBlock | undefined; balances: ComparedBalance[] };

/**
 * Where the inboxes are compared: `final` is the newest final block, `booked` the newest block that the ledger is
 * complete for. `isReverse`: present balances come from the last provider. `tokens`: those that an inbox takes, or
 * where it takes one token, the others; only of present balances.
 */
type ComparedInboxes = {
  inboxes: readonly ComparedInbox[];
  preferred: "final" | "booked";
  isReverse?: boolean;
  tokens?: "own" | "other";
};

/** A provider whose present balances are older than this is behind. */
const BALANCE_LAG: BlockSpan = { ...PROVIDER_LAG, min: 32 };

type CompareWorld = Pick<WatchWorld, "db" | "catalog" | "log" | "memory">;

/**
 * Compares the inboxes at the preferred block, or at the other one where the providers do not have it. A difference is
 * read again, from another provider where there is one. Throws ProviderFailed when no provider answers.
 */
export async function compareInboxes(
  world: CompareWorld,
  chain: Chain,
  { inboxes, preferred, isReverse = false, tokens = "own" }: ComparedInboxes,
): Promise<Comparison> {
  if (chain.detection === "balances") return compareNow(world, chain, { inboxes, isReverse, tokens });
  const cursor = await findCursor(world.db, chain.caip2);
  const blocks = cursor === undefined ? [] : await listComparableBlocks(world.db, cursor);
  let failure: ProviderFailed | undefined;
  for (const block of preferred === "final" ? blocks : blocks.toReversed()) {
    try {
      return { block, balances: await compareAt(world, chain, { block, inboxes }) };
    } catch (error) {
      // Most nodes keep the balances of the last 128 blocks, so the next, later block may have them.
      if (!(error instanceof ProviderFailed && error.kind === "unknown_block")) throw error;
      failure = error;
    }
  }
  if (failure) world.log.debug({ chain: chain.caip2, err: failure }, "balances of a block cannot be read now");
  return { block: undefined, balances: [] };
}

/**
 * Compares the balances of this moment with everything that is recorded. The chain may be ahead of what was recorded.
 */
async function compareNow(
  world: CompareWorld,
  chain: Chain,
  { inboxes, isReverse, tokens }: Required<Omit<ComparedInboxes, "preferred">>,
): Promise<Comparison> {
  const compared: ComparedBalance[] = [];
  const order = isReverse ? "runLastFirst" : "run";
  const { number = 0n } = (await findCursor(world.db, chain.caip2)) ?? {};
  for (const token of watchedTokens(world.catalog, chain.caip2)) {
    const owned = inboxes.filter((inbox) => (takesToken(inbox, token) ? tokens === "own" : tokens === "other"));
    if (owned.length === 0) continue;
    const owners = owned.map(({ address }) => address);
    // Read before the chain, so that what is recorded meanwhile shows as a difference that the next comparison
    // explains.
    const recorded = await readRecordedBalances(world.db, { chain: chain.caip2, token, owners });
    const { provider, holdings } = await chain.providers[order](async (reader) => {
      const since = { owners, blockNumber: number - blocksIn(world, chain, BALANCE_LAG) };
      return { provider: reader.name, holdings: await readHoldingsSince(reader, token, since) };
    });
    for (const [index, { address, intentId }] of owned.entries()) {
      const [ledgerUnits, chainUnits] = [recorded.get(address), holdings.units[index]];
      if (ledgerUnits === undefined || chainUnits === undefined) continue;
      const { blockNumber } = holdings;
      compared.push({ intentId, inbox: address, token, blockNumber, ledgerUnits, chainUnits, provider });
    }
  }
  const cursor = await findCursor(world.db, chain.caip2);
  return { block: cursor, balances: compared };
}

function takesToken(inbox: ComparedInbox, token: string): boolean {
  return inbox.token === "" || inbox.token === token;
}

/** Present balances of a provider that has the block. A provider that stands still would hide what came after. */
async function readHoldingsSince(
  reader: ChainReader,
  token: string,
  { owners, blockNumber }: { owners: readonly string[]; blockNumber: bigint },
): Promise<Holdings> {
  if (reader.holdings === undefined)
    throw new ProviderFailed("bad_answer", `${reader.name} is of another kind than the others`);
  const holdings = await reader.holdings(token, owners);
  if (holdings.blockNumber < blockNumber)
    throw new ProviderFailed("unknown_block", `${reader.name} does not have block ${blockNumber}`);
  return holdings;
}

/** Blocks whose balances can be compared: the newest one that is final and reread, and the newest booked one. */
async function listComparableBlocks(db: Db, cursor: CursorRow): Promise<KnownBlock[]> {
  const { chain, finalized_number: finalized, reread_number: reread, booked_number: booked } = cursor;
  const final =
    finalized < 0n ? booked : [finalized, reread, booked].reduce((one, other) => (other < one ? other : one));
  const blocks: KnownBlock[] = [];
  for (const upTo of new Set([final, booked])) {
    const [known] = upTo < 0n ? [] : await listKnownBlocks(db, { chain, upTo, limit: 1 });
    if (known) blocks.push(known);
  }
  return blocks;
}

type ComparedAt = { block: KnownBlock; inboxes: readonly ComparedInbox[] };

async function compareAt(
  world: CompareWorld,
  chain: Chain,
  { block, inboxes }: ComparedAt,
): Promise<ComparedBalance[]> {
  const compared: ComparedBalance[] = [];
  for (const token of watchedTokens(world.catalog, chain.caip2)) {
    const owned = inboxes.filter((inbox) => takesToken(inbox, token));
    const balances = await readBoth(world, chain, { block, token, inboxes: owned, order: "run" });
    const differing = new Set(balances.filter(isDifferent).map(({ inbox }) => inbox));
    compared.push(...balances.filter(({ inbox }) => !differing.has(inbox)));
    if (differing.size === 0) continue;
    const again = owned.filter(({ address }) => differing.has(address));
    compared.push(...(await readBoth(world, chain, { block, token, inboxes: again, order: "runLastFirst" })));
  }
  return compared;
}

export function isDifferent({ ledgerUnits, chainUnits }: ComparedBalance): boolean {
  return ledgerUnits !== chainUnits;
}

async function readBoth(
  world: CompareWorld,
  chain: Chain,
  { block, token, inboxes, order }: ComparedAt & { token: string; order: "run" | "runLastFirst" },
): Promise<ComparedBalance[]> {
  if (inboxes.length === 0) return [];
  const owners = inboxes.map(({ address }) => address);
  const chainBalances = await chain.providers[order]((reader) => readBalances(reader, { block, token, owners }));
  const booked = await readLedgerBalances(world.db, { chain: chain.caip2, token, owners, blockNumber: block.number });
  return inboxes.flatMap(({ address, intentId }, index) => {
    const [ledgerUnits, chainUnits] = [booked.get(address), chainBalances[index]];
    if (ledgerUnits === undefined || chainUnits === undefined) return [];
    return [{ intentId, inbox: address, token, blockNumber: block.number, ledgerUnits, chainUnits }];
  });
}

/** The balances at a block, by a provider that has it as the recorded one. */
async function readBalances(
  reader: ChainReader,
  { block, token, owners }: { block: KnownBlock; token: string; owners: readonly string[] },
): Promise<bigint[]> {
  const [header, balances] = await Promise.all([
    reader.block({ number: block.number }),
    reader.balances(token, owners, { blockNumber: block.number }),
  ]);
  if (header?.hash !== block.hash)
    throw new ProviderFailed("unknown_block", `${reader.name} does not have block ${block.number} as it is recorded`);
  return balances;
}

/**
 * What the ledger holds of a token in each inbox after a block: its balance without the movements that it booked later.
 * A shortage counts as below zero: after a pass that took an omitted deposit along, only the shortage shows it.
 */
async function readLedgerBalances(
  db: Db,
  {
    chain,
    token,
    owners,
    blockNumber,
  }: { chain: Caip2; token: string; owners: readonly string[]; blockNumber: bigint },
): Promise<Map<string, bigint>> {
  const { rows } = await sql<{ inbox: string; units: bigint }>`/* named: ledger_balances_at */
    select inbox.address as inbox, coalesce(booked.units, 0) - coalesce(later.units, 0) as units
    from inbox join chain_cursor on chain_cursor.chain = ${chain} and chain_cursor.booked_number >= ${blockNumber}
    cross join lateral (
      select sum(balance.balance_units) as units from ledger_balance balance
      where balance.holder = 'inbox:' || inbox.intent_id
        and balance.asset = ${assetSql(sql`chain_cursor.chain`, sql`${token}::text`)}) as booked
    cross join lateral (
      select sum(case movement.direction when 'in' then movement.amount_units else -movement.amount_units end) as units
      from movement
      where movement.intent_id = inbox.intent_id and movement.chain = ${chain} and movement.token = ${token}
        and movement.inbox = inbox.address and movement.orphaned_at is null
        and movement.block_number > ${blockNumber} and movement.block_number <= chain_cursor.booked_number) as later
    where inbox.address = any(${array(owners, "text")}) and inbox.namespace = split_part(chain_cursor.chain, ':', 1)
      and inbox.reference in ('', split_part(chain_cursor.chain, ':', 2))`.execute(db.root);
  return new Map(rows.map(({ inbox, units }) => [inbox, units]));
}

/**
 * What the recorded movements leave of a token in each inbox: its balance in the ledger, and what is not booked yet.
 * Each inbox is looked up by its address, however large a part of all inboxes the page is.
 */
async function readRecordedBalances(
  db: Db,
  { chain, token, owners }: { chain: Caip2; token: string; owners: readonly string[] },
): Promise<Map<string, bigint>> {
  const { rows } = await sql<{ inbox: string; units: bigint }>`/* named: recorded_balances */
    select inbox.address as inbox, coalesce(booked.units, 0) + coalesce(later.units, 0) as units
    from chain_cursor cross join unnest(${array(owners, "text")}) as asked (address)
    cross join lateral (
      select inbox.intent_id, inbox.address from inbox
      where inbox.address = asked.address and inbox.namespace = split_part(chain_cursor.chain, ':', 1)
        and inbox.reference in ('', split_part(chain_cursor.chain, ':', 2)) offset 0) as inbox
    cross join lateral (
      select sum(balance.balance_units) as units from ledger_balance balance
      where balance.holder = 'inbox:' || inbox.intent_id
        and balance.asset = ${assetSql(sql`chain_cursor.chain`, sql`${token}::text`)}) as booked
    cross join lateral (
      select sum(case movement.direction when 'in' then movement.amount_units else -movement.amount_units end) as units
      from movement
      where movement.intent_id = inbox.intent_id and movement.chain = ${chain} and movement.token = ${token}
        and movement.inbox = inbox.address and movement.orphaned_at is null
        and movement.block_number > chain_cursor.booked_number) as later
    where chain_cursor.chain = ${chain}`.execute(db.root);
  return new Map(rows.map(({ inbox, units }) => [inbox, units]));
}
