import type { Chain } from "../chain/chain.ts";
import { SETTLEMENTS_AHEAD } from "../chain/sender.ts";
import type { BlockRef, ChainReader } from "../chain/reader.ts";
import { listTokenProblems } from "../chain/tokenProblems.ts";
import type { ChainConfig } from "../config/config.ts";
import { addMs } from "../kernel/clock.ts";
import type { MemorySlot } from "../kernel/processMemory.ts";
import { formatUnits } from "../kernel/units.ts";
import { findMeasuredBlockMs, isBlockTimeDifferent, refreshBlockTime } from "../watch/blockTime.ts";
import { isScannerHealthy } from "../watch/scannerHealth.ts";
import type { CursorRow } from "../watch/store/store.ts";
import type { World } from "../world.ts";
import type { AlarmCondition, AlarmDetails } from "./alarm.ts";

/** A provider that answers no sooner counts as silent. */
const ANSWER_MS_MAX = 5_000;
/** One lost answer is no alarm. */
const SILENT_MS_MIN = 12_000;
const STALLED_MS_MIN = 20_000;
const STALLED_TIMES = 4;
/** For a chain whose block time is not known yet. */
const STALLED_MS_UNKNOWN = 60_000;
const LAG_S_MIN = 20;
const LAG_TIMES = 3;
const SCAN_LAG_MS_MAX = 120_000;
const GAS_INTERVAL_MS = 15_000;
/** A block may be a little ahead of our clock. */
const AHEAD_MS_MAX = 60_000;

type GasCheck = { checkedAtMs: number; balance: bigint; fee: bigint; isWithinCeiling: boolean; price: string };

/** What this process saw of a chain, on the monotonic clock. */
export type ChainHealth = {
  head: BlockRef | undefined;
  headSinceMs: number;
  /** By provider, when it last answered, or when it was first asked. */
  readonly answeredAtMs: Map<string, number>;
  /** As measured, else as configured. */
  blockTimeMs: number | undefined;
  gas: GasCheck | undefined;
  /** What the balance of the gas account fell by, in the native coin's smallest unit. */
  gasSpent: bigint;
};

const HEALTH: MemorySlot<WeakMap<Chain, ChainHealth>> = { create: () => new WeakMap() };

export type ChainCheckWorld = Pick<World, "clock" | "memory">;

export function getChainHealth(world: ChainCheckWorld, chain: Chain): ChainHealth {
  const all = world.memory.get(HEALTH);
  const known = all.get(chain) ?? {
    head: undefined,
    headSinceMs: world.clock.monotonicMs(),
    answeredAtMs: new Map(),
    blockTimeMs: undefined,
    gas: undefined,
    gasSpent: 0n,
  };
  all.set(chain, known);
  return known;
}

type CheckedChain = {
  chain: Chain;
  config: ChainConfig;
  cursor: CursorRow | undefined;
  /**
   * When this process began to scan, if it does: what nobody scanned before is no alarm yet. Monotonic milliseconds.
   */
  startedAtMs: number | undefined;
};
type HeadReply = { provider: string; head: BlockRef | undefined };

/**
 * Asks every provider for its head, directly: a check must start no cooldown. Takes a few seconds at most, and never
 * rejects.
 */
export async function checkChain(world: ChainCheckWorld, checked: CheckedChain): Promise<AlarmCondition[]> {
  const { chain, config } = checked;
  const health = getChainHealth(world, chain);
  const [replies] = await Promise.all([
    Promise.all(chain.readers.map((reader) => askHead(world, reader))),
    refreshGas(world, chain, health),
  ]);
  noteReplies(world, health, replies);
  const answering = replies.flatMap(({ head }) => (head === undefined ? [] : [head]));
  const heights = answering.toSorted((one, other) => (one.number < other.number ? 1 : -1));
  const [highest] = heights;
  if (highest !== undefined && highest.number !== health.head?.number) {
    health.head = highest;
    health.headSinceMs = world.clock.monotonicMs();
  }
  await measureBlockTime(world, checked, health);
  const nowMs = world.clock.monotonicMs();
  const silentMs = Math.min(...[...health.answeredAtMs.values()].map((atMs) => nowMs - atMs));
  const facts = { chain: chain.caip2, chainName: config.name };
  const alarm = (name: AlarmCondition["alarm"], details: AlarmDetails = {}): AlarmCondition => ({
    alarm: name,
    subject: chain.caip2,
    facts: { ...facts, ...details },
  });
  const isSilent = highest === undefined && silentMs >= SILENT_MS_MIN;
  return [
    ...(isSilent ? [alarm("chain_silent", { silentS: Math.round(silentMs / 1_000) })] : []),
    ...stalled(health, nowMs, alarm),
    ...(highest === undefined ? [] : checkProviders({ replies, health, nowMs, highest, facts })),
    ...(isSilent ? [] : checkScan(world, { checked, health, highest }, alarm)),
    ...(highest === undefined ? [] : checkHeadTime(world, highest, facts)),
    ...checkBlockTime(world, checked, alarm),
    ...checkGas(config, health.gas, { payer: chain.sender.payer, alarm }),
    ...listTokenProblems(world, chain.caip2).map(({ token, reason, holdsSettlements }): AlarmCondition => {
      const subject = `${chain.caip2} ${token}`;
      return { alarm: "token_changed", subject, facts: { ...facts, token, reason, holdsSettlements } };
    }),
    ...(health.gas === undefined || health.gas.isWithinCeiling
      ? []
      : [alarm("gas_price_above_ceiling", { price: health.gas.price })]),
  ];
}

type MakeAlarm = (name: AlarmCondition["alarm"], details?: AlarmDetails) => AlarmCondition;

async function askHead(world: ChainCheckWorld, reader: ChainReader): Promise<HeadReply> {
  const head = await withTimeout(world, () => reader.head("latest"));
  return { provider: reader.name, head };
}

/** Undefined when the work fails or takes too long. */
async function withTimeout<T>({ clock }: ChainCheckWorld, work: () => Promise<T>): Promise<T | undefined> {
  const ending = new AbortController();
  try {
    return await Promise.race([work(), clock.sleep(ANSWER_MS_MAX, ending.signal).then(() => undefined)]);
  } catch {
    return undefined;
  } finally {
    ending.abort();
  }
}

function noteReplies({ clock }: ChainCheckWorld, health: ChainHealth, replies: readonly HeadReply[]): void {
  const nowMs = clock.monotonicMs();
  for (const { provider, head } of replies) {
    if (head !== undefined || !health.answeredAtMs.has(provider)) health.answeredAtMs.set(provider, nowMs);
  }
}

async function measureBlockTime(
  world: ChainCheckWorld,
  { chain, config }: CheckedChain,
  health: ChainHealth,
): Promise<void> {
  const { head } = health;
  if (head !== undefined) await withTimeout(world, () => refreshBlockTime(world, chain, head));
  health.blockTimeMs = findMeasuredBlockMs(world, chain) ?? config.estimates?.blockMs;
}

/** A network that changes its block time changes what a rule in blocks protects. */
function checkBlockTime(world: ChainCheckWorld, { chain, config }: CheckedChain, alarm: MakeAlarm): AlarmCondition[] {
  const [measuredMs, configuredMs] = [findMeasuredBlockMs(world, chain), config.estimates?.blockMs];
  if (measuredMs === undefined || configuredMs === undefined || !isBlockTimeDifferent(measuredMs, configuredMs))
    return [];
  return [alarm("block_time_differs", { measuredMs: Math.round(measuredMs), configuredMs })];
}

function stalled(health: ChainHealth, nowMs: number, alarm: MakeAlarm): AlarmCondition[] {
  const { head, headSinceMs, blockTimeMs } = health;
  const limitMs =
    blockTimeMs === undefined ? STALLED_MS_UNKNOWN : Math.max(STALLED_MS_MIN, STALLED_TIMES * blockTimeMs);
  const stillMs = nowMs - headSinceMs;
  if (head === undefined || stillMs < limitMs) return [];
  return [alarm("chain_stalled", { headBlock: String(head.number), stillS: Math.round(stillMs / 1_000) })];
}

function checkProviders(input: {
  replies: readonly HeadReply[];
  health: ChainHealth;
  nowMs: number;
  highest: BlockRef;
  facts: AlarmDetails;
}): AlarmCondition[] {
  const { replies, health, nowMs, highest, facts } = input;
  const lagSMax = Math.max(LAG_S_MIN, (LAG_TIMES * (health.blockTimeMs ?? 0)) / 1_000);
  return replies.flatMap(({ provider, head }): AlarmCondition[] => {
    const subject = `${String(facts["chain"])} ${provider}`;
    if (head === undefined) {
      const downMs = nowMs - (health.answeredAtMs.get(provider) ?? nowMs);
      const details = { ...facts, provider, downS: Math.round(downMs / 1_000) };
      return downMs >= SILENT_MS_MIN ? [{ alarm: "provider_down", subject, facts: details }] : [];
    }
    const lagS = highest.timestampS - head.timestampS;
    const details = { ...facts, provider, lagS, lagBlocks: String(highest.number - head.number) };
    return lagS > lagSMax ? [{ alarm: "provider_behind", subject, facts: details }] : [];
  });
}

function checkScan(
  { clock }: ChainCheckWorld,
  { checked, health, highest }: { checked: CheckedChain; health: ChainHealth; highest: BlockRef | undefined },
  alarm: MakeAlarm,
): AlarmCondition[] {
  const { cursor, config, startedAtMs = -Infinity } = checked;
  const now = clock.now();
  const runningMs = clock.monotonicMs() - startedAtMs;
  const isScanned =
    isScannerHealthy(cursor?.updated_at, { now, pollMs: config.pollMs }) ||
    isScannerHealthy(runningMs === Infinity ? undefined : addMs(now, -runningMs), { now, pollMs: config.pollMs });
  // A chain that no process has scanned yet is one that has just been added.
  if (cursor !== undefined && !isScanned)
    return [alarm("chain_not_scanned", { scannedAt: cursor.updated_at.toISOString() })];
  if (cursor === undefined || highest === undefined || health.blockTimeMs === undefined) return [];
  const lagBlocks = highest.number - cursor.number;
  const isBehind = Number(lagBlocks) * health.blockTimeMs > SCAN_LAG_MS_MAX;
  return isBehind ? [alarm("scan_behind", { lagBlocks: String(lagBlocks) })] : [];
}

function checkHeadTime({ clock }: ChainCheckWorld, head: BlockRef, facts: AlarmDetails): AlarmCondition[] {
  const aheadMs = head.timestampS * 1_000 - clock.now().getTime();
  if (aheadMs <= AHEAD_MS_MAX) return [];
  const chain = String(facts["chain"]);
  return [{ alarm: "clock_differs", subject: chain, facts: { comparedWith: chain, differenceMs: -aheadMs } }];
}

async function refreshGas(world: ChainCheckWorld, { sender }: Chain, health: ChainHealth): Promise<void> {
  const nowMs = world.clock.monotonicMs();
  if (health.gas !== undefined && nowMs - health.gas.checkedAtMs < GAS_INTERVAL_MS) return;
  const answers = await withTimeout(world, () =>
    Promise.all([sender.feeBalance(), sender.settlementFee(), sender.feeStatus()]),
  );
  if (answers === undefined) return;
  const [balance, fee, { isWithinCeiling, text: price }] = answers;
  if (health.gas !== undefined && balance < health.gas.balance) health.gasSpent += health.gas.balance - balance;
  health.gas = { checkedAtMs: nowMs, balance, fee, isWithinCeiling, price };
}

function checkGas(
  { native }: ChainConfig,
  gas: GasCheck | undefined,
  { payer, alarm }: { payer: string; alarm: MakeAlarm },
): AlarmCondition[] {
  if (gas === undefined || gas.balance >= SETTLEMENTS_AHEAD * gas.fee) return [];
  const format = (units: bigint) => `${formatUnits(units, native.decimals)} ${native.symbol}`;
  const details = { account: payer, balance: format(gas.balance), needed: format(SETTLEMENTS_AHEAD * gas.fee) };
  return [alarm(gas.balance < gas.fee ? "gas_empty" : "gas_low", details)];
}
