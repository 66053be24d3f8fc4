import { watchedTokens } from "../../catalog/catalog.ts";
import type { Chain } from "../../chain/chain.ts";
import type { BlockRange } from "../../chain/reader.ts";
import { addMs } from "../../kernel/clock.ts";
import { advancePass, claimPass } from "../reconcile/balanceStore.ts";
import { readPart } from "../search/readPart.ts";
import { searchTransfers, twoProviders } from "../search/searchTransfers.ts";
import type { WatchWorld } from "../watchWorld.ts";
import { findCursor } from "../store/store.ts";
import { lowestOf } from "../../kernel/extremes.ts";

// A deposit that somebody settles before its balance is compared leaves nothing but that settlement. A provider that
// omits the settlement while its blocks are recorded and while they are read again would hide both permanently, with
// equal balances on both sides. So what settlements moved is listed once more, an hour later.

const INTERVAL_MS = 3_600_000;
/** A process that ends keeps its part for this long. */
const CLAIM_MS = 60_000;
/** Pause between the parts of a long range. */
const PART_MS = 1_000;
const ATTEMPTS_MAX = 8;

/**
 * Reads a part of the settlements that are an hour old, and records what is missing. Throws ProviderFailed when no
 * provider answers.
 */
export async function rereadSettled(world: WatchWorld, chain: Chain): Promise<void> {
  const at = world.clock.now();
  const claim = { chain: chain.caip2, at, until: addMs(at, CLAIM_MS), pauseMs: INTERVAL_MS };
  const pass = await claimPass(world.db, claim, ["settled"]);
  const cursor = await findCursor(world.db, chain.caip2);
  if (pass === undefined || cursor === undefined) return;
  const { reread_number: reread } = cursor;
  // After a reorganisation both may be above the last reread block.
  const [read, upTo] = parsePosition(pass.position).map((number) => lowestOf(number ?? reread, reread)) as [
    bigint,
    bigint,
  ];
  const readTo = read < upTo ? await searchPart(world, chain, { fromBlock: read + 1n, toBlock: upTo }) : upTo;
  const isComplete = readTo === upTo;
  const position = isComplete ? `${upTo} ${reread}` : `${readTo} ${upTo}`;
  const nextAt = addMs(world.clock.now(), isComplete ? INTERVAL_MS : PART_MS);
  await advancePass(world.db, pass, { position, comparedCount: 0, at, nextAt });
}

/** `<read> <upTo>`: up to where it was read, and up to where it is to be read now. */
function parsePosition(position: string | null): [read: bigint | undefined, upTo: bigint | undefined] {
  const [read, upTo] = position?.split(" ").map(BigInt) ?? [];
  return [read, upTo];
}

/** Reads the longest accepted part of a range from its start. Returns its last block. */
async function searchPart(world: WatchWorld, chain: Chain, range: BlockRange): Promise<bigint> {
  const tokens = watchedTokens(world.catalog, chain.caip2);
  const needed = twoProviders(chain);
  const found = await readPart(range, { end: "oldest", attemptsMax: ATTEMPTS_MAX }, (part) =>
    searchTransfers(world, chain, {
      read: (reader) => reader.transfers(part, tokens),
      from: "each",
      required: { in: needed, out: needed },
      skipsRecorded: true,
    }),
  );
  if (found === undefined) return range.fromBlock - 1n;
  const { recorded } = found.answer;
  if (recorded.length > 0)
    world.log.warn(
      { chain: chain.caip2, recorded: recorded.length },
      "settlements that a provider had omitted twice were found an hour later",
    );
  return found.part.toBlock;
}
