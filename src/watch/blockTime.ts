import { findWatchedChain, type Catalog } from "../catalog/catalog.ts";
import type { Chain } from "../chain/chain.ts";
import { ProviderFailed, secondsBetween, type BlockRef, type ChainReader } from "../chain/reader.ts";
import type { MemorySlot } from "../kernel/processMemory.ts";
import type { World } from "../world.ts";

// Networks change their block time, so whatever means a time is a time, and becomes a number of blocks by the measured
// one. It decides waits, lags and sizes, never whether something is final.

const MEASURE_INTERVAL_MS = 3_600_000;
/** For a chain whose block time is neither measured nor configured. */
const BLOCK_MS_DEFAULT = 2_000;

/** Over fewer blocks a time in whole seconds says little: some chains make five blocks a second. */
const MEASURED_COUNT = 1_000n;
/** No network is as fast: a chain that mines on request measures nothing. */
const BLOCK_MS_MIN = 50;

type Measured = { blockMs: number | undefined; atMs: number };
const MEASURED: MemorySlot<WeakMap<Chain, Measured>> = { create: () => new WeakMap() };

type BlockTimeWorld = Pick<World, "clock" | "memory"> & { catalog: Catalog };

/** Measures the block time of a chain once an hour, with one request. Never rejects for a provider's fault. */
export async function refreshBlockTime(
  { clock, memory }: Pick<World, "clock" | "memory">,
  chain: Chain,
  head: BlockRef,
): Promise<void> {
  const all = memory.get(MEASURED);
  const nowMs = clock.monotonicMs();
  const known = all.get(chain);
  if (known !== undefined && nowMs - known.atMs < MEASURE_INTERVAL_MS) return;
  // Before the request, so that a slow provider is asked once.
  all.set(chain, { blockMs: known?.blockMs, atMs: nowMs });
  const blockMs = await measureBlockMs(chain.providers, head);
  if (blockMs !== undefined) all.set(chain, { blockMs, atMs: nowMs });
}

/** The block time as last measured by this process; undefined while it is unknown. */
export function findMeasuredBlockMs({ memory }: Pick<World, "memory">, chain: Chain): number | undefined {
  return memory.get(MEASURED).get(chain)?.blockMs;
}

/** The measured block time, else the configured one, else a common one. */
export function blockMsOf(world: Omit<BlockTimeWorld, "clock">, chain: Chain): number {
  const configured = findWatchedChain(world.catalog, chain.caip2)?.estimates?.blockMs;
  return findMeasuredBlockMs(world, chain) ?? configured ?? BLOCK_MS_DEFAULT;
}

export type BlockSpan = { ms: number; min: number; max: number };

/** How many blocks a time takes, within bounds. */
export function blocksIn(world: Omit<BlockTimeWorld, "clock">, chain: Chain, { ms, min, max }: BlockSpan): bigint {
  return BigInt(Math.min(max, Math.max(min, Math.ceil(ms / blockMsOf(world, chain)))));
}

/**
 * How far below its newest block an honest provider may be. The upper bound stays within the blocks whose state most
 * nodes keep.
 */
export const PROVIDER_LAG: BlockSpan = { ms: 32_000, min: 4, max: 100 };
/** Blocks this near to the head are read with their headers, as they come; deeper ones by long ranges. */
export const NEAR_HEAD: BlockSpan = { ms: 64_000, min: 16, max: 512 };
/** The reorg that one provider alone may report. */
export const SHALLOW_REORG: BlockSpan = { ms: 4_000, min: 2, max: 20 };
/** A deeper reorg means another chain. So many known blocks are kept. */
export const DEEPEST_REORG: BlockSpan = { ms: 1_024_000, min: 512, max: 8_192 };

/**
 * `NEAR_HEAD` of a chain. Where deposits are found by balances, a block of its own says nothing, and one range costs
 * one request.
 */
export function nearBlocks(world: Omit<BlockTimeWorld, "clock">, chain: Chain): bigint {
  return chain.detection === "balances" ? 0n : blocksIn(world, chain, NEAR_HEAD);
}

/**
 * The time between two blocks below `head`, in milliseconds. Undefined on a young chain, or where the provider does not
 * have the blocks.
 */
async function measureBlockMs(reader: ChainReader, head: BlockRef): Promise<number | undefined> {
  if (head.number < MEASURED_COUNT) return undefined;
  try {
    const earlier = await reader.block({ number: head.number - MEASURED_COUNT });
    const seconds = earlier && secondsBetween(earlier, head);
    if (seconds === undefined) return undefined;
    const blockMs = (seconds * 1_000) / Number(MEASURED_COUNT);
    return blockMs < BLOCK_MS_MIN ? undefined : blockMs;
  } catch (error) {
    if (error instanceof ProviderFailed) return undefined;
    throw error;
  }
}

/** Whether a measured block time contradicts the configured one: by more than two times. */
export function isBlockTimeDifferent(measuredMs: number, configuredMs: number): boolean {
  return measuredMs > 2 * configuredMs || configuredMs > 2 * measuredMs;
}
