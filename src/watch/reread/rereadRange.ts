import { watchedTokens } from "../../catalog/catalog.ts";
import type { Chain } from "../../chain/chain.ts";
import { perChain } from "../perChain.ts";
import { ProviderFailed, type BlockRange, type ChainReader } from "../../chain/reader.ts";
import { trackConsistency } from "../providers/trackConsistency.ts";
import {
  attachBatches,
  compareWithRecorded,
  isTransferOf,
  movementKey,
  type FinalComparison,
  type InboxTransfer,
  type LocatedTransfer,
  type MovementRow,
} from "../movement.ts";
import { isRangeTooLarge, mayBeRangeTooLarge, PARSED_LOGS_TARGET, RangeSize } from "../search/rangeSize.ts";
import { readRange, type RangeTransfers } from "../catchUp/readRange.ts";
import { matchInboxesInDatabase, locateWithProvider } from "../inboxes/locateTransfers.ts";
import type { WatchWorld } from "../watchWorld.ts";
import { listChangedFees } from "../store/batchFee.ts";
import type { RereadChanges } from "../record/recordMovements.ts";
import { isProven, listChangedCrossings, proveReadable } from "./changedCrossings.ts";
import { raiseAlarm } from "../../kernel/alarm/raiseAlarm.ts";

export type RereadRange = { range: BlockRange; recorded: readonly MovementRow[]; providers: number };

/** Pause after too few complete answers, or a disagreement, in milliseconds. */
const PAUSE_MS = 30_000;

/** Blocks of the next range, and the end of the pause on the monotonic clock. */
export const rereadPace = perChain(() => ({ size: new RangeSize(PARSED_LOGS_TARGET), pausedUntilMs: 0 }));

/**
 * Rereads a range of final blocks and compares it with the recorded movements: with one provider, not the first where
 * possible, or with as many as `providers` requires. Returns undefined when that fails now, or needs a shorter range.
 */
export async function rereadRange(
  world: WatchWorld,
  chain: Chain,
  target: RereadRange,
): Promise<RereadChanges | undefined> {
  try {
    return await (target.providers > 1
      ? rereadWithSeveral(world, chain, target)
      : rereadWithOther(world, chain, target));
  } catch (error) {
    const { size } = rereadPace(world, chain);
    if (isRangeTooLarge(error) && size.shrink(error.suggestion)) return undefined;
    if (mayBeRangeTooLarge(error)) size.halve();
    throw error;
  }
}

async function rereadWithOther(
  world: WatchWorld,
  chain: Chain,
  { range, recorded }: RereadRange,
): Promise<RereadChanges> {
  const tokens = watchedTokens(world.catalog, chain.caip2);
  const work = async (reader: ChainReader) => ({
    reading: await readRange(reader, range, tokens),
    crossings: await listChangedCrossings(world, reader, recorded),
  });
  const { reading, crossings } = await chain.providers.runLastFirst(
    trackConsistency(world, chain, { reading: "final blocks", work }),
  );
  rereadPace(world, chain).size.adjust(reading.range, reading.transfers.length);
  const { missing, feeChanged, unmatched } = await compareReading(world, chain, { reading, recorded });
  const removed = await confirmRemoved(world, chain, unmatched);
  const locate = (candidates: readonly InboxTransfer[]) =>
    chain.providers.run((reader) => locateWithProvider(world, reader, candidates));
  const located = [
    ...(await locate(missing)),
    ...crossings,
    ...(await listChangedFees(world.db, chain.caip2, await locate(feeChanged))),
  ];
  return { located: withoutRepetitions(located), removed, isDisputed: false };
}

/**
 * `feeChanged`: recorded transfers whose fee differs. The range's logs may leave out a payment of the hub, which the
 * proof then has.
 */
async function compareReading(
  world: WatchWorld,
  chain: Chain,
  { reading, recorded }: { reading: RangeTransfers; recorded: readonly MovementRow[] },
): Promise<FinalComparison & { feeChanged: readonly InboxTransfer[] }> {
  const candidates = attachBatches(await matchInboxesInDatabase(world, chain, reading.transfers), reading.transfers);
  const comparison = compareWithRecorded(candidates, recorded);
  const known = candidates.filter((candidate) => !comparison.missing.includes(candidate));
  return { ...comparison, feeChanged: await listChangedFees(world.db, chain.caip2, known) };
}

/**
 * A second answer may omit logs too. A movement is orphaned only when the first and the last provider agree that its
 * transaction is not in its block.
 */
async function confirmRemoved(
  world: WatchWorld,
  chain: Chain,
  unconfirmed: readonly MovementRow[],
): Promise<MovementRow[]> {
  if (unconfirmed.length === 0) return [];
  const [first, last] = await Promise.all([
    chain.providers.run((reader) => findAbsent(reader, unconfirmed)),
    chain.providers.runLastFirst((reader) => findAbsent(reader, unconfirmed)),
  ]);
  const gone = first.filter((row) => last.includes(row));
  logKeptMovements(world, chain, unconfirmed.length - gone.length);
  return gone;
}

type ProviderReading = {
  reading: RangeTransfers;
  unrecorded: readonly LocatedTransfer[];
  absent: readonly MovementRow[];
};

/** Requires enough complete answers: the others report what one provider omits. */
async function rereadWithSeveral(
  world: WatchWorld,
  chain: Chain,
  reread: RereadRange,
): Promise<RereadChanges | undefined> {
  const pace = rereadPace(world, chain);
  if (world.clock.monotonicMs() < pace.pausedUntilMs) return undefined;
  const replies = await chain.providers.runAll(
    trackConsistency(world, chain, {
      reading: "final blocks",
      work: (reader) => readWithProvider(world, reader, { chain, reread }),
    }),
    "available",
  );
  const whole = replies.flatMap((each) => ("answer" in each ? [each.answer] : []));
  const tooLarge = replies.find((each) => "error" in each && isRangeTooLarge(each.error));
  if (tooLarge && "error" in tooLarge) throw tooLarge.error;
  if (whole.length < reread.providers) {
    pace.pausedUntilMs = pauseUntilMs(world);
    if (replies.some((each) => "error" in each && mayBeRangeTooLarge(each.error))) pace.size.halve();
    const failures = replies.flatMap((each) => ("error" in each ? [`${each.provider}: ${each.error.message}`] : []));
    world.log.warn({ chain: chain.caip2, failures }, "too few providers reread final blocks; retried later");
    return undefined;
  }
  for (const { reading } of whole.slice(0, 1)) pace.size.adjust(reading.range, reading.transfers.length);
  const changes = mergeReadings(whole, reread);
  if (changes.isDisputed) {
    pace.pausedUntilMs = pauseUntilMs(world);
    raiseAlarm(
      world.log,
      { alarm: "providers_differ", chain: chain.caip2, ...formatRange(reread.range) },
      "providers disagree on the transfers of final blocks, without a majority",
    );
  }
  const unconfirmed = new Set(whole.flatMap(({ absent }) => absent)).size;
  logKeptMovements(world, chain, unconfirmed - changes.removed.length);
  return changes;
}

async function readWithProvider(
  world: WatchWorld,
  reader: ChainReader,
  { chain, reread }: { chain: Chain; reread: RereadRange },
): Promise<ProviderReading> {
  const reading = await readRange(reader, reread.range, watchedTokens(world.catalog, chain.caip2));
  const { missing, feeChanged, unmatched } = await compareReading(world, chain, { reading, recorded: reread.recorded });
  const changedFees = await listChangedFees(world.db, chain.caip2, await locateWithProvider(world, reader, feeChanged));
  const unrecorded = [
    ...(await locateWithProvider(world, reader, missing)),
    ...(await listChangedCrossings(world, reader, reread.recorded)),
    ...changedFees,
  ];
  return {
    reading,
    unrecorded: withoutRepetitions(unrecorded),
    absent: await findAbsent(reader, unmatched),
  };
}

/**
 * Those whose transaction the provider does not have in their block. Throws ProviderFailed when it does not have the
 * block yet.
 */
async function findAbsent(reader: ChainReader, unconfirmed: readonly MovementRow[]): Promise<MovementRow[]> {
  if (unconfirmed.length === 0) return [];
  const { proofs, unreadable } = await proveReadable(reader, [...new Set(unconfirmed.map((row) => row.chain_tx))]);
  const proofOf = new Map(proofs.map((proof) => [`${proof.chainTx}/${proof.blockHash}`, proof]));
  const unproven = unconfirmed.filter(
    (row) => !unreadable.has(row.chain_tx) && !isProven(proofOf.get(`${row.chain_tx}/${row.block_hash}`), row),
  );
  const absent: MovementRow[] = [];
  for (const row of unproven) if (!(await isInBlock(reader, row))) absent.push(row);
  return absent;
}

/**
 * Whether a known block holds the movement. A lagging node has neither proof nor transfers of a block; only a request
 * by the block's hash reveals that.
 */
async function isInBlock(reader: ChainReader, row: MovementRow): Promise<boolean> {
  const block = await reader.block({ number: row.block_number });
  if (!block) throw new ProviderFailed("unknown_block", `${reader.name} does not have block ${row.block_number}`);
  if (block.hash !== row.block_hash) return false;
  const scope = { blockHash: row.block_hash, blockNumber: row.block_number };
  const transfers = await reader.transfers(scope, [row.token], [row.inbox]);
  return transfers.some((transfer) => transfer.chainTx === row.chain_tx && isTransferOf(row, transfer));
}

/**
 * Merges several readings. A new movement into an inbox needs one reading; the finality rules decide later whether it
 * counts. Every other change needs enough readings, and more than oppose it; a tie is a dispute. Pure.
 */
export function mergeReadings(
  readings: readonly Pick<ProviderReading, "unrecorded" | "absent">[],
  { recorded, providers }: Pick<RereadRange, "recorded" | "providers">,
): RereadChanges {
  const isEnough = (count: number) => count >= providers && 2 * count > readings.length;
  const isOutvoted = (count: number) => 2 * count < readings.length;
  const known = new Set(recorded.map((row) => movementKey({ ...row, chainTx: row.chain_tx })));
  const located: LocatedTransfer[] = [];
  let isDisputed = false;
  const reported = readings.flatMap((second) => second.unrecorded);
  for (const [key, reports] of Map.groupBy(reported, movementKey)) {
    const versions = [...Map.groupBy(reports, transferContent).values()];
    const [most = []] = versions.toSorted((one, other) => other.length - one.length);
    const [transfer] = most;
    if (transfer === undefined) continue;
    const isNew = transfer.direction === "in" && !known.has(key);
    if (isNew || isEnough(most.length)) located.push(transfer);
    else if (!isOutvoted(reports.length)) isDisputed = true;
  }
  const removed = recorded.filter((row) => {
    const count = readings.filter(({ absent }) => absent.includes(row)).length;
    if (count > 0 && !isEnough(count) && !isOutvoted(count)) isDisputed = true;
    return isEnough(count);
  });
  return { located, removed, isDisputed };
}

/** Each movement once, as it is first. */
function withoutRepetitions(located: readonly LocatedTransfer[]): LocatedTransfer[] {
  return [...new Map(located.toReversed().map((each) => [movementKey(each), each])).values()].toReversed();
}

function pauseUntilMs(world: WatchWorld): number {
  return world.clock.monotonicMs() + PAUSE_MS;
}

function formatRange({ fromBlock, toBlock }: BlockRange): { fromBlock: string; toBlock: string } {
  return { fromBlock: String(fromBlock), toBlock: String(toBlock) };
}

function transferContent({ blockHash, place, amountUnits, counterparty, batch, crossing }: LocatedTransfer): string {
  const { place: batchPlace, payout, second } = batch ?? {};
  const paid = [batchPlace, payout, second?.to, second?.amountUnits].join();
  const end = [crossing?.crossingName, crossing?.feeUnits, crossing?.sender].join();
  return `${blockHash}/${place}/${amountUnits}/${counterparty}/${paid}/${end}`;
}

function logKeptMovements(world: WatchWorld, chain: Chain, kept: number): void {
  // Where deposits are found by balances, no list of a range has them, and their proofs are the second reading.
  if (kept > 0 && chain.detection !== "balances")
    world.log.warn(
      { chain: chain.caip2, kept },
      "a provider omitted transfers of final blocks, although their proofs exist",
    );
}
