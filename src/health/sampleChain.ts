import { findWatchedChain } from "../catalog/catalog.ts";
import type { Chain } from "../chain/chain.ts";
import { ProviderFailed, type BlockRef, type ChainReader } from "../chain/reader.ts";
import type { ChainConfig } from "../config/config.ts";
import type { MemorySlot } from "../kernel/processMemory.ts";
import { findMeasuredBlockMs, refreshBlockTime } from "../watch/blockTime.ts";
import { isScannerHealthy } from "../watch/scannerHealth.ts";
import { listCursors, type CursorRow } from "../watch/store/store.ts";
import type { World } from "../world.ts";
import { compareWithCursor, type Agreement } from "./compareWithCursor.ts";

/** A provider that answers no sooner counts as silent. */
const ANSWER_MS_MAX = 5_000;
const GAS_INTERVAL_MS = 15_000;

/** `fee`: what the account must hold for one settlement; `cost`: what one takes of it. */
export type GasSample = {
  checkedAtMs: number;
  balance: bigint;
  fee: bigint;
  cost: bigint;
  isWithinCeiling: boolean;
  price: string;
};

/** How many settlements the account can pay, one after the other; undefined where they cost nothing. */
export function settlementsLeft({
  balance,
  fee,
  cost,
}: Pick<GasSample, "balance" | "fee" | "cost">): bigint | undefined {
  if (cost === 0n) return undefined;
  return balance < fee ? 0n : 1n + (balance - fee) / cost;
}

/** What this process saw of a chain in its samples, on the monotonic clock. */
export type ChainHealth = {
  head: BlockRef | undefined;
  headSinceMs: number;
  /** By provider, when it last answered, or when it was first asked. */
  readonly answeredAtMs: Map<string, number>;
  gas: GasSample | undefined;
  /** What the balance of the gas account fell by, in the native coin's smallest unit. */
  gasSpent: bigint;
  /** When `gasSpent` began to be counted. */
  gasSinceMs: number | undefined;
  /** The last whole sample, for readers that ask no provider themselves. */
  sample: { readonly atMs: number; readonly taken: ChainSample } | undefined;
};

const HEALTH: MemorySlot<WeakMap<Chain, ChainHealth>> = { create: () => new WeakMap() };

export type HealthWorld = Pick<World, "db" | "clock" | "catalog" | "chains" | "memory">;
type SampleWorld = Pick<HealthWorld, "clock" | "memory" | "catalog">;

export function getChainHealth({ clock, memory }: Pick<World, "clock" | "memory">, chain: Chain): ChainHealth {
  const all = memory.get(HEALTH);
  const known = all.get(chain) ?? {
    head: undefined,
    headSinceMs: clock.monotonicMs(),
    answeredAtMs: new Map(),
    gas: undefined,
    gasSpent: 0n,
    gasSinceMs: undefined,
    sample: undefined,
  };
  all.set(chain, known);
  return known;
}

export type ProviderSample = {
  name: string;
  head: BlockRef | undefined;
  /** Why there is no head, in the provider's words. */
  error: string | undefined;
  /** Undefined when it was not compared, or is not known. */
  agreement: Agreement | undefined;
  /** Since its last answer. */
  silentMs: number;
};

/** One look at a chain. Whatever tells of its health is made from it. */
export type ChainSample = {
  chain: Chain;
  config: ChainConfig;
  cursor: CursorRow | undefined;
  at: Date;
  providers: readonly ProviderSample[];
  /** The highest head of the providers that answered. */
  head: BlockRef | undefined;
  /** The highest head that this process has seen last, also when no provider answered now. */
  lastHead: BlockRef | undefined;
  /** Since `lastHead` last changed. */
  stillMs: number;
  /** As measured by this process, else as configured. */
  blockMs: number | undefined;
  measuredBlockMs: number | undefined;
  /** Whether a process scanned it recently. */
  isScanned: boolean;
  /** Blocks of the head that are not recorded; undefined while either is unknown. */
  lagBlocks: bigint | undefined;
  gas: GasSample | undefined;
};

type SampleOptions = {
  /** Compares each provider with the recorded chain, which can cost one more request each. */
  isCompared?: boolean;
  /** Leaves the gas account and the gas price as they were last seen. */
  withoutGas?: boolean;
};

/** Longer than the alarm checks take from one sample to the next. */
const RECENT_MS = 20_000;

/** The last samples of this process where they are recent, else new ones. */
export async function recentSamples(world: HealthWorld): Promise<ChainSample[]> {
  const nowMs = world.clock.monotonicMs();
  const recent = [...world.chains.values()].flatMap((chain) => {
    const { sample } = getChainHealth(world, chain);
    return sample !== undefined && nowMs - sample.atMs < RECENT_MS ? [sample.taken] : [];
  });
  return recent.length === world.chains.size ? recent : sampleChains(world);
}

/** A sample of each watched chain. */
export async function sampleChains(world: HealthWorld, options: SampleOptions = {}): Promise<ChainSample[]> {
  const cursors = new Map((await listCursors(world.db)).map((cursor) => [cursor.chain, cursor]));
  return Promise.all(
    [...world.chains.values()].flatMap((chain) => {
      const config = findWatchedChain(world.catalog, chain.caip2);
      const cursor = cursors.get(chain.caip2);
      return config === undefined ? [] : [sampleChain(world, { chain, config, cursor }, options)];
    }),
  );
}

type SampledChain = Pick<ChainSample, "chain" | "config" | "cursor">;

/**
 * Asks every provider for its head, directly: a look must start no cooldown and write no log line. Takes a few seconds
 * at most, and never rejects.
 */
export async function sampleChain(
  world: SampleWorld,
  { chain, config, cursor }: SampledChain,
  { isCompared = false, withoutGas = false }: SampleOptions = {},
): Promise<ChainSample> {
  const health = getChainHealth(world, chain);
  const compared = isCompared ? cursor : undefined;
  const [replies] = await Promise.all([
    Promise.all(chain.readers.map((reader) => askHead(world, { reader, chain, cursor: compared }))),
    withoutGas ? undefined : refreshGas(world, chain, health),
  ]);
  const nowMs = world.clock.monotonicMs();
  for (const { name, head } of replies)
    if (head !== undefined || !health.answeredAtMs.has(name)) health.answeredAtMs.set(name, nowMs);
  const head = highestOf(replies);
  if (head !== undefined && head.number !== health.head?.number) Object.assign(health, { head, headSinceMs: nowMs });
  const { head: lastHead } = health;
  if (lastHead !== undefined) await within(world, () => refreshBlockTime(world, chain, lastHead));
  const at = world.clock.now();
  const measuredBlockMs = findMeasuredBlockMs(world, chain);
  const taken: ChainSample = {
    chain,
    config,
    cursor,
    at,
    providers: replies.map((reply) => ({ ...reply, silentMs: nowMs - (health.answeredAtMs.get(reply.name) ?? nowMs) })),
    head,
    lastHead,
    stillMs: nowMs - health.headSinceMs,
    blockMs: measuredBlockMs ?? config.estimates?.blockMs,
    measuredBlockMs,
    isScanned: isScannerHealthy(cursor?.updated_at, { now: at, pollMs: config.pollMs }),
    lagBlocks: cursor === undefined || head === undefined ? undefined : head.number - cursor.number,
    gas: health.gas,
  };
  health.sample = { atMs: nowMs, taken };
  return taken;
}

type Reply = Omit<ProviderSample, "silentMs">;

function highestOf(replies: readonly Reply[]): BlockRef | undefined {
  return replies
    .flatMap(({ head }) => head ?? [])
    .reduce<BlockRef | undefined>((most, each) => (most && most.number >= each.number ? most : each), undefined);
}

async function askHead(
  world: SampleWorld,
  { reader, chain, cursor }: { reader: ChainReader; chain: Chain; cursor: CursorRow | undefined },
): Promise<Reply> {
  const { name } = reader;
  const silent: Reply = { name, head: undefined, error: `no answer in ${ANSWER_MS_MAX} ms`, agreement: undefined };
  const ask = async (): Promise<Reply> => {
    const head = await reader.head("latest");
    const agreement = cursor && (await compareWithCursor(world, { reader, chain, cursor, head }));
    return { name, head, error: undefined, agreement };
  };
  const answered = await within(world, () =>
    ask().catch((error: unknown) => {
      if (error instanceof ProviderFailed) return { ...silent, error: error.message };
      throw error;
    }),
  );
  return answered ?? silent;
}

/** Undefined when the work fails or takes too long. */
async function within<T>({ clock }: SampleWorld, work: () => Promise<T>): Promise<T | undefined> {
  const ending = new AbortController();
  try {
    return await Promise.race([work(), clock.sleep(ANSWER_MS_MAX, ending.signal).then(() => undefined)]);
  } catch {
    return undefined;
  } finally {
    ending.abort();
  }
}

async function refreshGas(world: SampleWorld, { sender }: Chain, health: ChainHealth): Promise<void> {
  if (sender.payer === "") return;
  const nowMs = world.clock.monotonicMs();
  if (health.gas !== undefined && nowMs - health.gas.checkedAtMs < GAS_INTERVAL_MS) return;
  const answers = await within(world, () =>
    Promise.all([sender.feeBalance(), sender.settlementFee(), sender.feeStatus(), sender.settlementCost?.()]),
  );
  if (answers === undefined) return;
  const [balance, fee, { isWithinCeiling, text: price }, cost = fee] = answers;
  if (health.gas !== undefined && balance < health.gas.balance) health.gasSpent += health.gas.balance - balance;
  health.gasSinceMs ??= nowMs;
  health.gas = { checkedAtMs: nowMs, balance, fee, cost, isWithinCeiling, price };
}
