import { watchedTokens } from "../../catalog/catalog.ts";
import type { Chain } from "../../chain/chain.ts";
import type { BlockRange, ChainReader, Transfer } from "../../chain/reader.ts";
import { addMs } from "../../kernel/clock.ts";
import { isRangeTooLarge } from "../catchUp/readRange.ts";
import { movementPlace, type InboxTransfer } from "../movement.ts";
import { advancePass, claimPass } from "../reconcile/balanceStore.ts";
import { recordFound } from "../search/recordFound.ts";
import { matchInboxesInDatabase } from "../inboxes/locateTransfers.ts";
import type { WatchWorld } from "../watchWorld.ts";
import { listMovementsBetween } from "../store/chainReads.ts";
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
  const readTo = read < upTo ? await readPart(world, chain, { fromBlock: read + 1n, toBlock: upTo }) : upTo;
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
async function readPart(world: WatchWorld, chain: Chain, { fromBlock, toBlock }: BlockRange): Promise<bigint> {
  let range = { fromBlock, toBlock };
  for (let attempts = 0; attempts < ATTEMPTS_MAX; attempts += 1) {
    try {
      await recordMissing(world, chain, range);
      return range.toBlock;
    } catch (error) {
      if (!isRangeTooLarge(error) || range.toBlock === fromBlock) throw error;
      range = { fromBlock, toBlock: (fromBlock + range.toBlock) / 2n };
    }
  }
  return fromBlock - 1n;
}

async function recordMissing(world: WatchWorld, chain: Chain, range: BlockRange): Promise<void> {
  const tokens = watchedTokens(world.catalog, chain.caip2);
  const replies = await chain.providers.askEach((reader: ChainReader) => reader.transfers(range, tokens), "awake");
  const answers = replies.flatMap((each) => ("answer" in each ? [each.answer] : []));
  const errors = replies.flatMap((each) => ("error" in each ? [each.error] : []));
  const failure = errors.find(isRangeTooLarge) ?? errors[0];
  if (failure && (answers.length === 0 || isRangeTooLarge(failure))) throw failure;
  const recorded = await listMovementsBetween(world.db, { chain: chain.caip2, ...range });
  const known = new Set(recorded.map((row) => movementPlace({ ...row, blockHash: row.block_hash })));
  const missing: Transfer[] = [];
  // What left an inbox makes a settlement look landed, so a second provider must report it, where there is one.
  const needed = Math.min(2, chain.providers.providerCount);
  const reports = Map.groupBy(answers.flat(), ({ blockHash, place }) => `${blockHash}/${place}`);
  for (const [transfer, ...others] of reports.values())
    if (transfer && others.length + 1 >= needed) missing.push(transfer);
  const unrecorded = (await matchInboxesInDatabase(world, chain, missing)).filter(
    (candidate: InboxTransfer) => !known.has(movementPlace(candidate)),
  );
  if (unrecorded.length === 0) return;
  const chainTxs = new Set(unrecorded.map(({ chainTx }) => chainTx));
  const transfers = missing.filter(({ chainTx }) => chainTxs.has(chainTx));
  const written = await recordFound(world, chain, { transfers });
  if (written.length > 0)
    world.log.warn(
      { chain: chain.caip2, recorded: written.length },
      "settlements that a provider had omitted twice were found an hour later",
    );
}
