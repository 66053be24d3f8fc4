import { secondsBetween } from "../chain/reader.ts";
import { SETTLEMENTS_AHEAD } from "../chain/sender.ts";
import type { TokenProblem } from "../chain/tokenProblems.ts";
import { settlementsLeft, type ChainSample } from "../health/sampleChain.ts";
import { addMs } from "../kernel/clock.ts";
import { formatUnits } from "../kernel/units.ts";
import { isProviderBehind, isScanBehind } from "../watch/behind.ts";
import { isBlockTimeDifferent } from "../watch/blockTime.ts";
import { isScannerHealthy } from "../watch/scannerHealth.ts";
import type { AlarmCondition, AlarmDetails } from "./alarm.ts";

/** One lost answer is no alarm. */
const SILENT_MS_MIN = 12_000;
const STALLED_MS_MIN = 20_000;
const STALLED_TIMES = 4;
/** For a chain whose block time is not known yet. */
const STALLED_MS_UNKNOWN = 60_000;
/** A block may be a little ahead of our clock. */
const AHEAD_MS_MAX = 60_000;

export type ChainFacts = {
  sample: ChainSample;
  /** How long this process scans, if it does: what nobody scanned before is no alarm yet. */
  runningMs: number | undefined;
  tokenProblems: readonly TokenProblem[];
};

/** The alarms of a chain. Pure. */
export function checkChain(checked: ChainFacts): AlarmCondition[] {
  const { sample } = checked;
  const { chain, config, head, gas } = sample;
  const facts = { chain: chain.caip2, chainName: config.name };
  const alarm: MakeAlarm = (name, details = {}) => {
    return { alarm: name, subject: chain.caip2, facts: { ...facts, ...details } };
  };
  const silentMs = Math.min(...sample.providers.map((each) => each.silentMs));
  const isSilent = head === undefined && silentMs >= SILENT_MS_MIN;
  return [
    ...(isSilent ? [alarm("chain_silent", { silentS: Math.round(silentMs / 1_000) })] : []),
    ...stalled(sample, alarm),
    ...checkProviders(sample, facts),
    ...(isSilent ? [] : checkScan(checked, alarm)),
    ...checkHeadTime(sample),
    ...checkBlockTime(sample, alarm),
    ...checkGas(sample, alarm),
    ...checked.tokenProblems.map(({ token, reason, holdsSettlements }): AlarmCondition => {
      const subject = `${chain.caip2} ${token}`;
      return { alarm: "token_changed", subject, facts: { ...facts, token, reason, holdsSettlements } };
    }),
    ...(gas === undefined || gas.isWithinCeiling ? [] : [alarm("gas_price_above_ceiling", { price: gas.price })]),
  ];
}

type MakeAlarm = (name: AlarmCondition["alarm"], details?: AlarmDetails) => AlarmCondition;

/** A network that changes its block time changes what a rule in blocks protects. */
function checkBlockTime({ config, measuredBlockMs }: ChainSample, alarm: MakeAlarm): AlarmCondition[] {
  const configuredMs = config.estimates?.blockMs;
  if (measuredBlockMs === undefined || configuredMs === undefined) return [];
  if (!isBlockTimeDifferent(measuredBlockMs, configuredMs)) return [];
  return [alarm("block_time_differs", { measuredMs: Math.round(measuredBlockMs), configuredMs })];
}

function stalled({ lastHead, stillMs, blockMs }: ChainSample, alarm: MakeAlarm): AlarmCondition[] {
  const limitMs = blockMs === undefined ? STALLED_MS_UNKNOWN : Math.max(STALLED_MS_MIN, STALLED_TIMES * blockMs);
  if (lastHead === undefined || stillMs < limitMs) return [];
  return [alarm("chain_stalled", { headBlock: String(lastHead.number), stillS: Math.round(stillMs / 1_000) })];
}

function checkProviders({ providers, head: highest, blockMs }: ChainSample, facts: AlarmDetails): AlarmCondition[] {
  if (highest === undefined) return [];
  return providers.flatMap(({ name: provider, head, silentMs }): AlarmCondition[] => {
    const subject = `${String(facts["chain"])} ${provider}`;
    if (head === undefined) {
      const details = { ...facts, provider, downS: Math.round(silentMs / 1_000) };
      return silentMs >= SILENT_MS_MIN ? [{ alarm: "provider_down", subject, facts: details }] : [];
    }
    const lagS = secondsBetween(head, highest) ?? 0;
    const details = { ...facts, provider, lagS, lagBlocks: String(highest.number - head.number) };
    const isBehind = isProviderBehind(head, highest, blockMs);
    return isBehind ? [{ alarm: "provider_behind", subject, facts: details }] : [];
  });
}

function checkScan({ sample, runningMs }: ChainFacts, alarm: MakeAlarm): AlarmCondition[] {
  const { cursor, config, at: now, lagBlocks, blockMs } = sample;
  const startedAt = runningMs === undefined ? undefined : addMs(now, -runningMs);
  const isScanned = sample.isScanned || isScannerHealthy(startedAt, { now, pollMs: config.pollMs });
  // A chain that no process has scanned yet is one that has just been added.
  if (cursor !== undefined && !isScanned)
    return [alarm("chain_not_scanned", { scannedAt: cursor.updated_at.toISOString() })];
  if (lagBlocks === undefined || !isScanBehind(lagBlocks, blockMs)) return [];
  return [alarm("scan_behind", { lagBlocks: String(lagBlocks) })];
}

function checkHeadTime({ chain: { caip2: chain }, head, at }: ChainSample): AlarmCondition[] {
  const aheadMs = head?.timestampS === undefined ? 0 : head.timestampS * 1_000 - at.getTime();
  if (aheadMs <= AHEAD_MS_MAX) return [];
  return [{ alarm: "clock_differs", subject: chain, facts: { comparedWith: chain, differenceMs: -aheadMs } }];
}

function checkGas({ config: { native }, chain, gas }: ChainSample, alarm: MakeAlarm): AlarmCondition[] {
  const left = gas && settlementsLeft(gas);
  if (gas === undefined || left === undefined || left >= SETTLEMENTS_AHEAD) return [];
  const format = (units: bigint) => `${formatUnits(units, native.decimals)} ${native.symbol}`;
  const needed = format(gas.fee + (SETTLEMENTS_AHEAD - 1n) * gas.cost);
  const details = { account: chain.sender.payer, balance: format(gas.balance), needed };
  return [alarm(gas.balance < gas.fee ? "gas_empty" : "gas_low", details)];
}
