import { watchedTokens } from "../../catalog/catalog.ts";
import type { Chain } from "../../chain/chain.ts";
import { ProviderFailed, type BlockRange, type ChainReader } from "../../chain/reader.ts";
import { getChainMemory } from "../chainMemory.ts";
import { compareWithRecorded, movementKey, type MovementRow, type LocatedTransfer } from "../movement.ts";
import { isRangeTooLarge, mayBeRangeTooLarge, readRange, type RangeTransfers } from "../catchUp/readRange.ts";
import { matchInboxesInDatabase, locateTransfers, locateWithProvider, type WatchWorld } from "../store/applySegment.ts";

/** What a second reading of a final stretch says should be changed. */
export type RereadChanges = {
  located: readonly LocatedTransfer[];
  removed: readonly MovementRow[];
  /** Something is told by as many as deny it: the stretch has to be read once more. */
  isDisputed: boolean;
};

export type RereadRange = { range: BlockRange; recorded: readonly MovementRow[]; providers: number };

/** After too few providers could read a stretch, or differed on it, they are left alone for so long. */
const PAUSE_MS = 30_000;

/**
 * Reads a final stretch a second time and compares it with what is recorded of it: by one provider, another than the first where there
 * is one, or by as many as `providers` says. Undefined when that cannot be done now, or only of a shorter stretch.
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
    const { rereadSize } = getChainMemory(world, chain);
    if (isRangeTooLarge(error) && rereadSize.shrink(error.suggestion)) return undefined;
    if (mayBeRangeTooLarge(error)) rereadSize.halve();
    throw error;
  }
}

async function rereadWithOther(
  world: WatchWorld,
  chain: Chain,
  { range, recorded }: RereadRange,
): Promise<RereadChanges> {
  const tokens = watchedTokens(world.catalog, chain.caip2);
  const reading = await chain.providers.askInReverseOrder((reader) => readRange(reader, range, tokens));
  getChainMemory(world, chain).rereadSize.adjust(reading.range, reading.transfers.length);
  const candidates = await matchInboxesInDatabase(world, chain, reading.transfers);
  const { missing, unmatched } = compareWithRecorded(candidates, recorded);
  const removed = await confirmRemoved(world, chain, unmatched);
  return { located: await locateTransfers(chain, missing), removed, isDisputed: false };
}

/**
 * An answer may lack logs, also the second time. A movement is only taken back when the first provider and the last one agree that its
 * transaction is not in its block.
 */
async function confirmRemoved(
  world: WatchWorld,
  chain: Chain,
  doubtful: readonly MovementRow[],
): Promise<MovementRow[]> {
  if (doubtful.length === 0) return [];
  const [first, last] = await Promise.all([
    chain.providers.ask((reader) => findAbsent(reader, doubtful)),
    chain.providers.askInReverseOrder((reader) => findAbsent(reader, doubtful)),
  ]);
  const gone = first.filter((row) => last.includes(row));
  logKeptMovements(world, chain, doubtful.length - gone.length);
  return gone;
}

type ProviderReading = {
  reading: RangeTransfers;
  unrecorded: readonly LocatedTransfer[];
  absent: readonly MovementRow[];
};

/** Only when enough have read the stretch wholly: what one of them leaves out another one tells. */
async function rereadWithSeveral(
  world: WatchWorld,
  chain: Chain,
  stretch: RereadRange,
): Promise<RereadChanges | undefined> {
  const memory = getChainMemory(world, chain);
  if (world.clock.monotonicMs() < memory.rereadPausedUntilMs) return undefined;
  const said = await chain.providers.askEach((reader) => readWithProvider(world, reader, { chain, stretch }), "awake");
  const whole = said.flatMap((each) => ("answer" in each ? [each.answer] : []));
  const tooLarge = said.find((each) => "error" in each && isRangeTooLarge(each.error));
  if (tooLarge && "error" in tooLarge) throw tooLarge.error;
  if (whole.length < stretch.providers) {
    memory.rereadPausedUntilMs = pauseUntilMs(world);
    if (said.some((each) => "error" in each && mayBeRangeTooLarge(each.error))) memory.rereadSize.halve();
    const failures = said.flatMap((each) => ("error" in each ? [`${each.provider}: ${each.error.message}`] : []));
    world.log.warn({ chain: chain.caip2, failures }, "too few providers read final blocks again; it is tried later");
    return undefined;
  }
  for (const { reading } of whole.slice(0, 1)) memory.rereadSize.adjust(reading.range, reading.transfers.length);
  const changes = mergeReadings(whole, stretch);
  if (changes.isDisputed) {
    memory.rereadPausedUntilMs = pauseUntilMs(world);
    world.log.error(
      { alarm: "providers_differ", chain: chain.caip2, ...formatRange(stretch.range) },
      "providers tell differently what final blocks hold, and nobody is outvoted",
    );
  }
  const doubtful = new Set(whole.flatMap(({ absent }) => absent)).size;
  logKeptMovements(world, chain, doubtful - changes.removed.length);
  return changes;
}

async function readWithProvider(
  world: WatchWorld,
  reader: ChainReader,
  { chain, stretch }: { chain: Chain; stretch: RereadRange },
): Promise<ProviderReading> {
  const reading = await readRange(reader, stretch.range, watchedTokens(world.catalog, chain.caip2));
  const { missing, unmatched } = compareWithRecorded(
    await matchInboxesInDatabase(world, chain, reading.transfers),
    stretch.recorded,
  );
  return {
    reading,
    unrecorded: await locateWithProvider(reader, missing),
    absent: await findAbsent(reader, unmatched),
  };
}

/** Those whose transaction the provider does not have in their block. Throws ProviderFailed where it does not know the block so far. */
async function findAbsent(reader: ChainReader, doubtful: readonly MovementRow[]): Promise<MovementRow[]> {
  if (doubtful.length === 0) return [];
  const proofs = await reader.proofs([...new Set(doubtful.map((row) => row.chain_tx))]);
  const proofOf = new Map(proofs.map((proof) => [`${proof.chainTx}/${proof.blockHash}`, proof]));
  const unproven = doubtful.filter(
    (row) => proofOf.get(`${row.chain_tx}/${row.block_hash}`)?.identityAt(row.place) === undefined,
  );
  const absent: MovementRow[] = [];
  for (const row of unproven) if (!(await isInBlock(reader, row))) absent.push(row);
  return absent;
}

/**
 * Whether a block that the provider knows holds the movement. Behind one name a node may lag: it has no proof and no transfers of a block that
 * it never saw, and only a question by the block's hash makes it say so.
 */
async function isInBlock(reader: ChainReader, row: MovementRow): Promise<boolean> {
  const block = await reader.block({ number: row.block_number });
  if (!block) throw new ProviderFailed("unknown_block", `${reader.name} lacks block ${row.block_number}`);
  if (block.hash !== row.block_hash) return false;
  const transfers = await reader.transfers({ blockHash: row.block_hash }, [row.token], [row.inbox]);
  return transfers.some(({ chainTx }) => chainTx === row.chain_tx);
}

/**
 * What several readings come to. A movement into an inbox that nobody has recorded is recorded when one of them tells of it: whether it
 * counts is decided elsewhere. Everything else is changed only when enough say so, and more than do not; as many against as for is a dispute. Pure.
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
  const told = readings.flatMap((second) => second.unrecorded);
  for (const [key, reports] of Map.groupBy(told, movementKey)) {
    const versions = [...Map.groupBy(reports, transferContent).values()];
    const [most = []] = versions.toSorted((one, other) => other.length - one.length);
    const [sighting] = most;
    if (sighting === undefined) continue;
    const isNew = sighting.direction === "in" && !known.has(key);
    if (isNew || isEnough(most.length)) located.push(sighting);
    else if (!isOutvoted(reports.length)) isDisputed = true;
  }
  const removed = recorded.filter((row) => {
    const count = readings.filter(({ absent }) => absent.includes(row)).length;
    if (count > 0 && !isEnough(count) && !isOutvoted(count)) isDisputed = true;
    return isEnough(count);
  });
  return { located, removed, isDisputed };
}

function pauseUntilMs(world: WatchWorld): number {
  return world.clock.monotonicMs() + PAUSE_MS;
}

function formatRange({ fromBlock, toBlock }: BlockRange): { fromBlock: string; toBlock: string } {
  return { fromBlock: String(fromBlock), toBlock: String(toBlock) };
}

function transferContent({ blockHash, place, amountUnits, counterparty }: LocatedTransfer): string {
  return `${blockHash}/${place}/${amountUnits}/${counterparty}`;
}

function logKeptMovements(world: WatchWorld, chain: Chain, kept: number): void {
  if (kept > 0)
    world.log.warn(
      { chain: chain.caip2, kept },
      "a provider left out transfers of final blocks whose proofs are there",
    );
}
