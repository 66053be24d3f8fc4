import { sql } from "kysely";
import type { Chain } from "../../chain/chain.ts";
import { perChain } from "../perChain.ts";
import type { BlockRange, ChainReader, ProviderFailed, Transfer } from "../../chain/reader.ts";
import type { Db } from "../../db/database.ts";
import type { Caip2 } from "../../kernel/caip.ts";
import { highestOf } from "../../kernel/extremes.ts";
import { blocksIn, type BlockSpan } from "../blockTime.ts";
import { isRangeTooLarge } from "../catchUp/readRange.ts";
import type { MovementRow } from "../movement.ts";
import type { ComparedBalance } from "../reconcile/comparedBalance.ts";
import { recordFound } from "../search/recordFound.ts";
import type { WatchWorld } from "../watchWorld.ts";
import type { KnownBlock } from "../store/store.ts";

/**
 * What is below the newest recorded transfer is read where it explains nothing: a provider may list an earlier one
 * late.
 */
const OVERLAP: BlockSpan = { ms: 120_000, min: 300, max: 2_000 };
/**
 * Requests for one inbox in one step. An inbox with many transfers takes several steps, between which others have their
 * turn.
 */
const ATTEMPTS_MAX = 4;

/** Up to which block the transfers of an inbox were read in parts, by inbox, token and provider. */
const partlyReadUpTo = perChain(() => new Map<string, bigint>());

/** `isPartial`: more is to be read. `recorded`: the new movements. */
export type FoundDeposits = { isPartial: boolean; recorded: readonly MovementRow[] };

/** Records the deposits of one inbox since its newest recorded one, the oldest first. */
export async function findDeposits(
  world: WatchWorld,
  chain: Chain,
  { cursor, balance }: { cursor: KnownBlock; balance: ComparedBalance },
): Promise<FoundDeposits> {
  const partlyRead = partlyReadUpTo(world, chain);
  const key = `${balance.inbox} ${balance.token} ${balance.provider}`;
  const newest = await findNewestBlock(world.db, { chain: chain.caip2, balance });
  const start = highestOf(newest, partlyRead.get(key) ?? 0n);
  const found = await recordRange(world, chain, { range: { fromBlock: start, toBlock: cursor.number }, balance });
  const isPartial = found.readTo < cursor.number;
  if (isPartial) partlyRead.set(key, found.readTo + 1n);
  else partlyRead.delete(key);
  const { recorded } = found;
  // A balance may be newer than what was read; the next blocks then explain it.
  if (isPartial || recorded.length > 0 || balance.blockNumber > cursor.number || newest === 0n)
    return { isPartial, recorded };
  const overlap = blocksIn(world, chain, OVERLAP);
  const fromBlock = newest > overlap ? newest - overlap : 0n;
  const range = { fromBlock, toBlock: cursor.number };
  return { isPartial: false, recorded: (await recordRange(world, chain, { range, balance })).recorded };
}

/** Records the oldest part of a range. `readTo`: its last block. */
async function recordRange(
  world: WatchWorld,
  chain: Chain,
  { range, balance }: { range: BlockRange; balance: ComparedBalance },
): Promise<{ readTo: bigint; recorded: readonly MovementRow[] }> {
  const { inbox } = balance;
  const read = await readOldest(chain, range, balance);
  if (read === undefined) return { readTo: range.fromBlock - 1n, recorded: [] };
  // What left the inbox is listed with the settlements, and needs no balance to be found.
  const incoming = read.transfers.filter(({ to, from }) => to === inbox && from !== inbox);
  const known =
    incoming.length === 0 ? new Set() : await listKnownTransfers(world.db, { chain: chain.caip2, balance, ...read });
  const transfers = incoming.filter((transfer) => !known.has(keyOf(transfer)));
  const recorded = transfers.length === 0 ? [] : await recordFound(world, chain, { transfers, isOnlyIncoming: true });
  return { readTo: read.toBlock, recorded };
}

type OldestTransfers = BlockRange & { transfers: readonly Transfer[] };

/** Reads the longest accepted part of a range from its start. Undefined when even a short part is refused. */
async function readOldest(
  chain: Chain,
  { fromBlock, toBlock }: BlockRange,
  { inbox, token, provider }: ComparedBalance,
): Promise<OldestTransfers | undefined> {
  // The provider that shows the balance explains it. Another one may hide both.
  const { providers } = chain;
  const read = (work: (reader: ChainReader) => Promise<Transfer[]>) =>
    provider === undefined ? providers.ask(work) : providers.askProvider(provider, work);
  let upTo = toBlock;
  for (let attempts = 0; attempts < ATTEMPTS_MAX && upTo >= fromBlock; attempts += 1) {
    const range = { fromBlock, toBlock: upTo };
    try {
      const transfers = await read((reader) => reader.transfers(range, [token], [inbox]));
      return { ...range, transfers };
    } catch (error) {
      if (!isRangeTooLarge(error) || upTo === fromBlock) throw error;
      upTo = fromBlock + shorter(upTo - fromBlock + 1n, error) - 1n;
    }
  }
  return undefined;
}

function shorter(blocks: bigint, { suggestion }: ProviderFailed): bigint {
  const suggested = suggestion?.blocks ?? 0n;
  return suggested >= 1n && suggested < blocks ? suggested : blocks / 2n;
}

type OfInbox = { chain: Caip2; balance: ComparedBalance };

/**
 * The block of the newest recorded deposit. A settlement that was listed first may have taken one that is not recorded
 * yet.
 */
async function findNewestBlock(db: Db, { chain, balance: { intentId, inbox, token } }: OfInbox): Promise<bigint> {
  const { rows } = await sql<{ number: bigint }>`/* named: newest_movement_of_inbox */
    select block_number as number from movement
    where intent_id = ${intentId} and chain = ${chain} and token = ${token} and inbox = ${inbox} and direction = 'in'
      and orphaned_at is null
    order by block_number desc limit 1`.execute(db.root);
  return rows[0]?.number ?? 0n;
}

async function listKnownTransfers(
  db: Db,
  { chain, balance: { intentId, inbox, token }, fromBlock, toBlock }: OfInbox & BlockRange,
): Promise<Set<string>> {
  const { rows } = await sql<{ blockHash: string; place: bigint }>`/* named: known_transfers_of_inbox */
    select block_hash as "blockHash", place from movement
    where intent_id = ${intentId} and chain = ${chain} and token = ${token} and inbox = ${inbox} and direction = 'in'
      and block_number >= ${fromBlock} and block_number <= ${toBlock} and orphaned_at is null`.execute(db.root);
  return new Set(rows.map(keyOf));
}

function keyOf({ blockHash, place }: { blockHash: string; place: bigint }): string {
  return `${blockHash}/${place}`;
}
