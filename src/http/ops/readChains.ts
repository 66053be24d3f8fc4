import type { OpsChain, OpsGas, OpsProvider } from "@tributary/dashboard/ops/opsState";
import { SETTLEMENTS_AHEAD } from "../../chain/sender.ts";
import type { Finality } from "../../config/config.ts";
import { hasRole } from "../../config/operate/roles.ts";
import { getChainHealth, recentSamples, settlementsLeft, type ChainSample } from "../../health/sampleChain.ts";
import { DAY_MS } from "../../kernel/clock.ts";
import { formatUnits, PRICE_DECIMALS } from "../../kernel/units.ts";
import { isProviderBehind } from "../../watch/behind.ts";
import { isScannerHealthy } from "../../watch/scannerHealth.ts";
import { listCursors, type CursorRow } from "../../watch/store/store.ts";
import type { World } from "../../world.ts";

/** A rate of spending is known once it was observed for so long. */
const OBSERVED_MS_MIN = 3_600_000;
const SILENT_MS_MIN = 12_000;

export type ChainsWorld = Pick<World, "db" | "clock" | "config" | "catalog" | "chains" | "memory">;

/** The chains by their rows, and by what this process last learned of their providers. */
export async function readChains(world: ChainsWorld, transfers: ReadonlyMap<string, number>): Promise<OpsChain[]> {
  const asksProviders = hasRole(world.config, "watch") || hasRole(world.config, "settle");
  const [cursors, samples] = await Promise.all([
    listCursors(world.db),
    asksProviders ? recentSamples(world) : Promise.resolve<ChainSample[]>([]),
  ]);
  const now = world.clock.now();
  return world.config.chains.map((config): OpsChain => {
    const { caip2, name, finality, pollMs } = config;
    const cursor = cursors.find(({ chain }) => chain === caip2);
    const sample = samples.find(({ chain }) => chain.caip2 === caip2);
    return {
      chain: caip2,
      name,
      recordedBlock: cursor === undefined ? null : String(cursor.number),
      behindBlocks: behindOf(sample, cursor),
      scannedMs: cursor === undefined ? null : Math.max(0, now.getTime() - cursor.updated_at.getTime()),
      isScanned: isScannerHealthy(cursor?.updated_at, { now, pollMs }),
      providers: sample === undefined ? null : sample.providers.map((provider) => toProvider(sample, provider)),
      finality: finality.map((tier) => ({
        rule: ruleOf(tier.finality),
        upTo: tier.upToPriceUnits === undefined ? null : formatUnits(tier.upToPriceUnits, PRICE_DECIMALS),
      })),
      gas: sample === undefined ? null : toGas(world, sample),
      transfersPassed: transfers.get(caip2) ?? 0,
    };
  });
}

function behindOf(sample: ChainSample | undefined, cursor: CursorRow | undefined): string | null {
  if (sample?.lastHead === undefined || cursor === undefined) return null;
  const behind = sample.lastHead.number - cursor.number;
  return String(behind < 0n ? 0n : behind);
}

function toProvider(
  { head: highest, blockMs }: ChainSample,
  { name, head, silentMs }: ChainSample["providers"][number],
): OpsProvider {
  if (head === undefined) return { name, state: silentMs >= SILENT_MS_MIN ? "silent" : "ok", lagBlocks: null };
  if (highest === undefined || !isProviderBehind(head, highest, blockMs)) return { name, state: "ok", lagBlocks: null };
  return { name, state: "behind", lagBlocks: String(highest.number - head.number) };
}

function ruleOf(finality: Finality): string {
  if ("tag" in finality) return finality.tag;
  if ("seconds" in finality) return `${finality.seconds} s`;
  return finality.confirmations === 1 ? "1 block" : `${finality.confirmations} blocks`;
}

function toGas(world: ChainsWorld, { chain, config, gas }: ChainSample): OpsGas | null {
  if (gas === undefined) return null;
  const { symbol, decimals } = config.native;
  const { gasSpent, gasSinceMs } = getChainHealth(world, chain);
  const observedMs = gasSinceMs === undefined ? 0 : world.clock.monotonicMs() - gasSinceMs;
  const left = settlementsLeft(gas);
  const isRateKnown = observedMs >= OBSERVED_MS_MIN && gasSpent > 0n;
  return {
    account: chain.sender.payer,
    balance: { decimal: formatUnits(gas.balance, decimals), symbol },
    settlementsLeft: left === undefined ? null : String(left),
    daysLeft: isRateKnown ? Number((gas.balance * BigInt(Math.floor(observedMs))) / gasSpent / BigInt(DAY_MS)) : null,
    price: gas.price,
    isLow: left !== undefined && left < SETTLEMENTS_AHEAD,
    isEmpty: gas.balance < gas.fee,
  };
}
