import { watchedTokens } from "../../catalog/catalog.ts";
import type { Chain } from "../../chain/chain.ts";
import { perChain } from "../perChain.ts";
import { ProviderFailed, type BlockRange, type ChainReader, type Transfer } from "../../chain/reader.ts";
import type { Db } from "../../db/database.ts";
import type { Caip2 } from "../../kernel/caip.ts";
import { addMs } from "../../kernel/clock.ts";
import { isRangeTooLarge } from "../catchUp/readRange.ts";
import { findBlockBefore } from "../follow/initializeCursor.ts";
import type { MovementRow } from "../movement.ts";
import { recordFound } from "../search/recordFound.ts";
import type { WatchWorld } from "../watchWorld.ts";
import { advanceSearch, type BalanceDifference } from "./balanceStore.ts";
import { raiseAlarm } from "../../kernel/alarm/raiseAlarm.ts";

// Searches the transfers that explain a difference: downwards from the block of the difference, with a filter for its
// inbox, which providers accept over long ranges. One step sends a few requests, and the next one continues where it
// ended.

/** Requests per step and provider. */
const REQUESTS_MAX = 10;
export const SEARCH_PAUSE_MS = 5_000;
/** Filters for one inbox are cheap over long ranges; a provider that refuses them gets shorter ones. */
const SEARCH_BLOCKS_START = 10_000n;

/** Blocks per request. */
const searchSize = perChain(() => ({ blocks: SEARCH_BLOCKS_START }));

/** Searches a part of the chain, and records what was missing there. Returns the new movements. */
export async function searchDifference(
  world: WatchWorld,
  chain: Chain,
  difference: BalanceDifference,
): Promise<readonly MovementRow[]> {
  const { recorded, ...searched } = await searchInbox(world, chain, difference);
  const nextAt = addMs(world.clock.now(), SEARCH_PAUSE_MS);
  await advanceSearch(world.db, difference, { ...searched, nextAt });
  return recorded;
}

/**
 * How far a search of one inbox is: the lowest block that it has read, and the one at which it ends; null until that is
 * known.
 */
export type InboxSearch = {
  intent_id: string;
  inbox: string;
  searched_number: bigint;
  lowest_number: bigint | null;
};

/** Searches the next part, at most until it finds something, and records that. */
export async function searchInbox(
  world: WatchWorld,
  chain: Chain,
  search: InboxSearch,
): Promise<{ recorded: readonly MovementRow[]; searchedNumber: bigint; lowestNumber: bigint }> {
  const size = searchSize(world, chain);
  let searchedNumber = search.searched_number;
  let lowestNumber = search.lowest_number ?? undefined;
  let recorded: readonly MovementRow[] = [];
  for (let requests = 0; requests < REQUESTS_MAX && recorded.length === 0; requests += 1) {
    // The newest blocks come first; where the search ends costs more to know.
    if (requests > 0) lowestNumber ??= await findFirstBlock(world, chain, search);
    if (searchedNumber <= (lowestNumber ?? 0n)) break;
    const range = nextRange({ searchedNumber, lowestNumber, blocks: size.blocks });
    try {
      recorded = await searchRange(world, chain, { search, range });
      searchedNumber = range.fromBlock;
    } catch (error) {
      if (!isRangeTooLarge(error) || size.blocks === 1n) throw error;
      size.blocks = shrink(size.blocks, error.suggestion?.blocks);
    }
  }
  lowestNumber ??= await findFirstBlock(world, chain, search);
  return { recorded, searchedNumber, lowestNumber };
}

function nextRange({
  searchedNumber,
  lowestNumber = 0n,
  blocks,
}: {
  searchedNumber: bigint;
  lowestNumber: bigint | undefined;
  blocks: bigint;
}): BlockRange {
  const from = searchedNumber - blocks;
  return { fromBlock: from < lowestNumber ? lowestNumber : from, toBlock: searchedNumber - 1n };
}

function shrink(blocks: bigint, suggested: bigint | undefined): bigint {
  return suggested !== undefined && suggested < blocks ? suggested : blocks / 2n;
}

/**
 * The last block before the intent existed. Nobody can have paid its inboxes before: they commit to its id. Those on the
 * other kind of chains can be paid before they are issued.
 */
async function findFirstBlock(world: WatchWorld, chain: Chain, { intent_id }: InboxSearch): Promise<bigint> {
  const { created_at: createdAt } = await world.db.root
    .selectFrom("intent")
    .select("created_at")
    .where("id", "=", intent_id)
    .executeTakeFirstOrThrow();
  const block = await chain.providers.ask(async (reader) =>
    findBlockBefore(reader, await reader.head("latest"), createdAt),
  );
  return block.number;
}

type RangeSearch = { search: InboxSearch; range: BlockRange };

async function searchRange(
  world: WatchWorld,
  chain: Chain,
  { search, range }: RangeSearch,
): Promise<readonly MovementRow[]> {
  const { inbox } = search;
  const tokens = watchedTokens(world.catalog, chain.caip2);
  const replies = await chain.providers.askEach((reader) => readInbox(reader, { range, tokens, inbox }), "awake");
  const answers = replies.flatMap((each) => ("answer" in each ? [each] : []));
  const errors = replies.flatMap((each) => ("error" in each ? [each.error] : []));
  const failure = errors.find(isRangeTooLarge) ?? errors[0];
  if (failure && (answers.length === 0 || isRangeTooLarge(failure))) throw failure;
  const places = await listPlacesOfInbox(world.db, {
    chain: chain.caip2,
    intentId: search.intent_id,
    inbox,
    ...range,
  });
  const known = new Set(places.map(placeKey));
  const found = answers.flatMap(({ answer }) => answer).filter((transfer) => !known.has(placeKey(transfer)));
  // A movement out makes a settlement look landed, so a second provider must report it, where there is one.
  const needed = Math.min(2, chain.providers.providerCount);
  const transfers = [...Map.groupBy(found, placeKey).values()].flatMap((reports) => {
    const [transfer] = reports;
    return transfer && (transfer.from !== inbox || reports.length >= needed) ? [transfer] : [];
  });
  if (transfers.length === 0) return [];
  const recorded = await recordFound(world, chain, { transfers });
  const omitting = answers.flatMap(({ provider, answer }) => {
    const seen = new Set(answer.map(placeKey));
    return transfers.every((transfer) => seen.has(placeKey(transfer))) ? [] : [provider];
  });
  logOmitted(world, chain, { recorded, omitting });
  return recorded;
}

/** Where an inbox's movements stand in a range of blocks. */
async function listPlacesOfInbox(
  db: Db,
  { chain, intentId, inbox, fromBlock, toBlock }: BlockRange & { chain: Caip2; intentId: string; inbox: string },
): Promise<{ blockHash: string; place: bigint }[]> {
  return db.root
    .selectFrom("movement")
    .select(["block_hash as blockHash", "place"])
    .where("intent_id", "=", intentId)
    .where("chain", "=", chain)
    .where("inbox", "=", inbox)
    .where("block_number", ">=", fromBlock)
    .where("block_number", "<=", toBlock)
    .where("orphaned_at", "is", null)
    .execute();
}

async function readInbox(
  reader: ChainReader,
  { range, tokens, inbox }: { range: BlockRange; tokens: readonly string[]; inbox: string },
): Promise<Transfer[]> {
  const [end, transfers] = await Promise.all([
    reader.block({ number: range.toBlock }),
    reader.transfers(range, tokens, [inbox]),
  ]);
  // Nodes answer a range beyond their head with an empty list.
  if (!end) throw new ProviderFailed("unknown_block", `${reader.name} does not have block ${range.toBlock}`);
  return transfers;
}

/** `omitting`: the providers that still leave a transfer out; without any, each of the chain's may have done so. */
function logOmitted(
  world: WatchWorld,
  chain: Chain,
  { recorded, omitting }: { recorded: readonly MovementRow[]; omitting: readonly string[] },
): void {
  for (const row of recorded)
    raiseAlarm(
      world.log,
      {
        alarm: "transfer_omitted",
        chain: chain.caip2,
        provider: omitting.length > 0 ? omitting.join(", ") : chain.providers.name,
        inbox: row.inbox,
        direction: row.direction,
        chainTx: row.chain_tx,
        block: String(row.block_number),
        units: String(row.amount_units),
      },
      "a provider omitted a transfer each time its block was read; a search of the inbox found it",
    );
}

function placeKey({ blockHash, place }: { blockHash: string; place: bigint }): string {
  return `${blockHash}/${place}`;
}
