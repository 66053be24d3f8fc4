import { watchedTokens } from "../../catalog/catalog.ts";
import type { Chain } from "../../chain/chain.ts";
import { perChain } from "../perChain.ts";
import { ProviderFailed, type BlockRange, type ChainReader, type Transfer } from "../../chain/reader.ts";
import { addMs } from "../../kernel/clock.ts";
import { findBlockBefore } from "../follow/initializeCursor.ts";
import type { MovementRow } from "../movement.ts";
import { readPart, shorterPart } from "../search/readPart.ts";
import { searchTransfers, twoProviders } from "../search/searchTransfers.ts";
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
  const shorten = (blocks: bigint, refusal: ProviderFailed) => (size.blocks = shorterPart(blocks, refusal));
  let searchedNumber = search.searched_number;
  let lowestNumber = search.lowest_number ?? undefined;
  let recorded: readonly MovementRow[] = [];
  for (let requests = 0; requests < REQUESTS_MAX && recorded.length === 0; requests += 1) {
    // The newest blocks come first; where the search ends costs more to know.
    if (requests > 0) lowestNumber ??= await findFirstBlock(world, chain, search);
    if (searchedNumber <= (lowestNumber ?? 0n)) break;
    const left = { fromBlock: lowestNumber ?? 0n, toBlock: searchedNumber - 1n };
    const options = { end: "newest", blocks: size.blocks, attemptsMax: 1, shorten } as const;
    const found = await readPart(left, options, (part) => searchRange(world, chain, { search, range: part }));
    if (found === undefined) continue;
    recorded = found.answer;
    searchedNumber = found.part.fromBlock;
  }
  lowestNumber ??= await findFirstBlock(world, chain, search);
  return { recorded, searchedNumber, lowestNumber };
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
  const block = await chain.providers.run(async (reader) =>
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
  const { recorded, omitting } = await searchTransfers(world, chain, {
    read: (reader) => readInbox(reader, { range, tokens, inbox }),
    from: "each",
    required: { in: 1, out: twoProviders(chain) },
    parties: [inbox],
    skipsRecorded: true,
  });
  logOmitted(world, chain, { recorded, omitting });
  return recorded;
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
