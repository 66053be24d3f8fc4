import { watchedTokens } from "../catalog/catalog.ts";
import type { Chain } from "../chain/chain.ts";
import { ProviderFailed, type BlockRange, type ChainDriver } from "../chain/driver.ts";
import { memoryOf } from "./memory.ts";
import { compareFinal, identityOf, type MovementRow, type Sighting } from "./movement.ts";
import { isTooLarge, mayBeTooLarge, readRange, type RangeReading } from "./range.ts";
import { matchInDatabase, place, placeBy, type WatchWorld } from "./record.ts";

/** What a second reading of a final stretch says should be changed. */
export type Changes = {
  sightings: readonly Sighting[];
  gone: readonly MovementRow[];
  /** Something is told by as many as deny it: the stretch has to be read once more. */
  isDisputed: boolean;
};

export type Stretch = { range: BlockRange; recorded: readonly MovementRow[]; providers: number };

/** After too few providers could read a stretch, or differed on it, they are left alone for so long. */
const REST_MS = 30_000;

/**
 * Reads a final stretch a second time and compares it with what is recorded of it: by one provider, another than the first where there
 * is one, or by as many as `providers` says. Undefined when that cannot be done now, or only of a shorter stretch.
 */
export async function readAgain(world: WatchWorld, chain: Chain, stretch: Stretch): Promise<Changes | undefined> {
  try {
    return await (stretch.providers > 1 ? readBySeveral(world, chain, stretch) : readByAnother(world, chain, stretch));
  } catch (error) {
    const { rereadSize } = memoryOf(chain, world.clock);
    if (isTooLarge(error) && rereadSize.shrink(error.suggestion)) return undefined;
    if (mayBeTooLarge(error)) rereadSize.doubt();
    throw error;
  }
}

async function readByAnother(world: WatchWorld, chain: Chain, { range, recorded }: Stretch): Promise<Changes> {
  const tokens = watchedTokens(world.catalog, chain.caip2);
  const reading = await chain.providers.askAnother((driver) => readRange(driver, range, tokens));
  memoryOf(chain, world.clock).rereadSize.learn(reading.range, reading.transfers.length);
  const candidates = await matchInDatabase(world, reading.transfers);
  const { missing, doubtful } = compareFinal(candidates, recorded);
  const gone = await confirmGone(world, chain, doubtful);
  return { sightings: await place(chain, missing), gone, isDisputed: false };
}

/**
 * An answer may lack logs, also the second time. A movement is only taken back when the first provider and the last one agree that its
 * transaction is not in its block.
 */
async function confirmGone(world: WatchWorld, chain: Chain, doubtful: readonly MovementRow[]): Promise<MovementRow[]> {
  if (doubtful.length === 0) return [];
  const [first, last] = await Promise.all([
    chain.providers.ask((driver) => absentOf(driver, doubtful)),
    chain.providers.askAnother((driver) => absentOf(driver, doubtful)),
  ]);
  const gone = first.filter((row) => last.includes(row));
  warnOfKept(world, chain, doubtful.length - gone.length);
  return gone;
}

type Second = { reading: RangeReading; told: readonly Sighting[]; absent: readonly MovementRow[] };

/** Only when enough have read the stretch wholly: what one of them leaves out another one tells. */
async function readBySeveral(world: WatchWorld, chain: Chain, stretch: Stretch): Promise<Changes | undefined> {
  const memory = memoryOf(chain, world.clock);
  if (world.clock.monotonicMs() < memory.rereadRestUntilMs) return undefined;
  const said = await chain.providers.askEach((driver) => readBy(world, driver, { chain, stretch }), "awake");
  const whole = said.flatMap((each) => ("answer" in each ? [each.answer] : []));
  const tooLarge = said.find((each) => "error" in each && isTooLarge(each.error));
  if (tooLarge && "error" in tooLarge) throw tooLarge.error;
  if (whole.length < stretch.providers) {
    memory.rereadRestUntilMs = restUntilMs(world);
    if (said.some((each) => "error" in each && mayBeTooLarge(each.error))) memory.rereadSize.doubt();
    const failures = said.flatMap((each) => ("error" in each ? [`${each.provider}: ${each.error.message}`] : []));
    world.log.warn({ chain: chain.caip2, failures }, "too few providers read final blocks again; it is tried later");
    return undefined;
  }
  for (const { reading } of whole.slice(0, 1)) memory.rereadSize.learn(reading.range, reading.transfers.length);
  const changes = merge(whole, stretch);
  if (changes.isDisputed) {
    memory.rereadRestUntilMs = restUntilMs(world);
    world.log.error(
      { alarm: "providers_differ", chain: chain.caip2, ...inWords(stretch.range) },
      "providers tell differently what final blocks hold, and nobody is outvoted",
    );
  }
  const doubtful = new Set(whole.flatMap(({ absent }) => absent)).size;
  warnOfKept(world, chain, doubtful - changes.gone.length);
  return changes;
}

async function readBy(
  world: WatchWorld,
  driver: ChainDriver,
  { chain, stretch }: { chain: Chain; stretch: Stretch },
): Promise<Second> {
  const reading = await readRange(driver, stretch.range, watchedTokens(world.catalog, chain.caip2));
  const { missing, doubtful } = compareFinal(await matchInDatabase(world, reading.transfers), stretch.recorded);
  return { reading, told: await placeBy(driver, missing), absent: await absentOf(driver, doubtful) };
}

/** Those whose transaction the provider does not have in their block. Throws ProviderFailed where it does not know the block so far. */
async function absentOf(driver: ChainDriver, doubtful: readonly MovementRow[]): Promise<MovementRow[]> {
  if (doubtful.length === 0) return [];
  const positions = await driver.positions([...new Set(doubtful.map((row) => row.chain_tx))]);
  const mined = new Set(positions.map((position) => `${position.chainTx}/${position.blockHash}`));
  const withoutReceipt = doubtful.filter((row) => !mined.has(`${row.chain_tx}/${row.block_hash}`));
  const absent: MovementRow[] = [];
  for (const row of withoutReceipt) if (!(await isInBlock(driver, row))) absent.push(row);
  return absent;
}

/**
 * Whether a block that the provider knows holds the movement. Behind one name a node may lag: it has no receipt and no logs of a block that
 * it never saw, and only a question by the block's hash makes it say so.
 */
async function isInBlock(driver: ChainDriver, row: MovementRow): Promise<boolean> {
  const block = await driver.block({ number: row.block_number });
  if (!block) throw new ProviderFailed("unknown_block", `${driver.name} lacks block ${row.block_number}`);
  if (block.hash !== row.block_hash) return false;
  const transfers = await driver.transfers({ blockHash: row.block_hash }, [row.token], [row.inbox]);
  return transfers.some(({ chainTx }) => chainTx === row.chain_tx);
}

/**
 * What several readings come to. A movement into an inbox that nobody has recorded is recorded when one of them tells of it: whether it
 * counts is decided elsewhere. Everything else is changed only when enough say so, and more than do not; as many against as for is a dispute. Pure.
 */
export function merge(
  seconds: readonly Pick<Second, "told" | "absent">[],
  { recorded, providers }: Pick<Stretch, "recorded" | "providers">,
): Changes {
  const isEnough = (count: number) => count >= providers && 2 * count > seconds.length;
  const isOutvoted = (count: number) => 2 * count < seconds.length;
  const known = new Set(recorded.map((row) => identityOf({ ...row, chainTx: row.chain_tx })));
  const sightings: Sighting[] = [];
  let isDisputed = false;
  const told = seconds.flatMap((second) => second.told);
  for (const [identity, tellings] of Map.groupBy(told, identityOf)) {
    const versions = [...Map.groupBy(tellings, contentOf).values()];
    const [most = []] = versions.toSorted((one, other) => other.length - one.length);
    const [sighting] = most;
    if (sighting === undefined) continue;
    const isNew = sighting.direction === "in" && !known.has(identity);
    if (isNew || isEnough(most.length)) sightings.push(sighting);
    else if (!isOutvoted(tellings.length)) isDisputed = true;
  }
  const gone = recorded.filter((row) => {
    const count = seconds.filter(({ absent }) => absent.includes(row)).length;
    if (count > 0 && !isEnough(count) && !isOutvoted(count)) isDisputed = true;
    return isEnough(count);
  });
  return { sightings, gone, isDisputed };
}

function restUntilMs(world: WatchWorld): number {
  return world.clock.monotonicMs() + REST_MS;
}

function inWords({ fromBlock, toBlock }: BlockRange): { fromBlock: string; toBlock: string } {
  return { fromBlock: String(fromBlock), toBlock: String(toBlock) };
}

function contentOf({ blockHash, logIndex, amountUnits, counterparty }: Sighting): string {
  return `${blockHash}/${logIndex}/${amountUnits}/${counterparty}`;
}

function warnOfKept(world: WatchWorld, chain: Chain, kept: number): void {
  if (kept > 0)
    world.log.warn({ chain: chain.caip2, kept }, "a provider left out logs of final blocks whose receipts are there");
}
