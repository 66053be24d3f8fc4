import { findWatchedChain, type Catalog } from "../catalog/catalog.ts";
import { BridgeUnavailable, type BridgeFees } from "../chain/bridge.ts";
import type { Caip2 } from "../kernel/caip.ts";
import type { MemorySlot } from "../kernel/processMemory.ts";
import { warnRepeated } from "../kernel/alarm/repeatedWarning.ts";
import { hasElapsed } from "../kernel/clock.ts";
import type { World } from "../world.ts";
import { askService, isFailing } from "./askService.ts";
import { leaseCalls } from "./callBudget.ts";

// What the bridge charges now. Each process asks for itself, within the budget of all.

export type FeesWorld = Pick<World, "db" | "clock" | "log" | "catalog" | "memory" | "bridge">;

/** A way of the bridge between two configured chains. */
export type BridgePair = { readonly chain: Caip2; readonly settleChain: Caip2 };

/** Before a burn, fees are asked for anew after this time. */
const FEES_MS = 60_000;
/** Fees that no burn needs are asked for after this time, so that their rise is noticed before one does. */
const REFRESH_MS = 300_000;

type FeeMemory = {
  known: Map<string, BridgeFees & { since: Date }>;
  /** When each pair was last asked about, with or without an answer. */
  askedAt: Map<string, Date>;
};
const FEES: MemorySlot<FeeMemory> = {
  create: () => ({ known: new Map(), askedAt: new Map() }),
};

/**
 * The bridge's present fees, or the last known ones; undefined while the service reports none. Throws BridgeUnavailable
 * while none are known and the budget of calls is used up.
 */
export async function findFees(world: FeesWorld, pair: BridgePair): Promise<BridgeFees | undefined> {
  const memory = world.memory.get(FEES);
  const last = memory.known.get(keyOf(pair));
  const at = world.clock.now();
  if (last !== undefined && !hasElapsed(FEES_MS, { since: last.since, now: at })) return last;
  if (findDomains(world.catalog, pair) === undefined || world.bridge === undefined) return last;
  if (!(await leaseCalls(world.db, { kind: "fees", calls: 1, at }))) {
    // Nothing waits for the fees of a pair that was never asked about while the service fails.
    if (last === undefined && !isFailing(world, "fees"))
      throw new BridgeUnavailable("the bridge's fees are not known yet");
    return last;
  }
  return (await askFees(world, pair)) ?? last;
}

/** Asks for the fees of the pair that was asked about longest ago, if it is time. Returns whether it asked. */
export async function refreshFees(world: FeesWorld): Promise<boolean> {
  const { askedAt } = world.memory.get(FEES);
  const at = world.clock.now();
  const askedMs = (pair: BridgePair) => askedAt.get(keyOf(pair))?.getTime() ?? 0;
  const [next] = listPairs(world.catalog).toSorted((one, other) => askedMs(one) - askedMs(other));
  if (next === undefined || world.bridge === undefined) return false;
  const last = askedAt.get(keyOf(next));
  if (last !== undefined && !hasElapsed(REFRESH_MS, { since: last, now: at })) return false;
  if (!(await leaseCalls(world.db, { kind: "fees", calls: 1, at }))) return false;
  await askFees(world, next);
  return true;
}

/** The fees that this process knows, of the pairs that have been asked about. */
export function listKnownFees({ catalog, memory }: Pick<World, "catalog" | "memory">): (BridgePair & BridgeFees)[] {
  const { known } = memory.get(FEES);
  return listPairs(catalog).flatMap((pair) => {
    const fees = known.get(keyOf(pair));
    return fees === undefined ? [] : [{ ...pair, fastPpm: fees.fastPpm, standardPpm: fees.standardPpm }];
  });
}

/** How many pairs this process has not asked about. */
export function countUnaskedPairs({ catalog, memory }: Pick<World, "catalog" | "memory">): number {
  const { askedAt } = memory.get(FEES);
  return listPairs(catalog).filter((pair) => !askedAt.has(keyOf(pair))).length;
}

/** Every way from an origin to a rail that the bridge offers, between configured chains. */
function listPairs({ assets }: Catalog): BridgePair[] {
  const bridged = assets.filter(({ bridge }) => bridge !== undefined);
  const rails = bridged.filter(({ isRail }) => isRail);
  return bridged
    .filter(({ isOrigin }) => isOrigin)
    .flatMap(({ chain }) =>
      rails.filter((rail) => rail.chain !== chain).map((rail) => ({ chain, settleChain: rail.chain })),
    );
}

/** The bridge's numbers of both chains; undefined where the configuration lacks one. */
export function findDomains(catalog: Catalog, { chain, settleChain }: BridgePair) {
  const domain = findWatchedChain(catalog, chain)?.cctp?.domain;
  const settleDomain = findWatchedChain(catalog, settleChain)?.cctp?.domain;
  return domain === undefined || settleDomain === undefined ? undefined : { domain, settleDomain };
}

async function askFees(world: FeesWorld, pair: BridgePair): Promise<BridgeFees | undefined> {
  const { bridge } = world;
  const domains = findDomains(world.catalog, pair);
  if (bridge === undefined || domains === undefined) return undefined;
  const memory = world.memory.get(FEES);
  const at = world.clock.now();
  memory.askedAt.set(keyOf(pair), at);
  try {
    const fees = await askService(world, "fees", () => bridge.fees(domains));
    memory.known.set(keyOf(pair), { ...fees, since: world.clock.now() });
    return fees;
  } catch (error) {
    if (!(error instanceof BridgeUnavailable)) throw error;
    warnRepeated(world, {
      key: `bridge fees ${error.message}`,
      fields: { ...pair, err: error },
      message: "the bridge's fees are unknown; deposits take the standard crossing",
    });
    return undefined;
  }
}

function keyOf({ chain, settleChain }: BridgePair): string {
  return `${chain}/${settleChain}`;
}
