import { cctpV2Speeds } from "@tributary/inbox/cctpV2";
import { findServiceFailure } from "../../bridge/askService.ts";
import { countUnaskedPairs, listKnownFees, refreshFees } from "../../bridge/fees.ts";
import { findWatchedChain } from "../../catalog/catalog.ts";
import type { World } from "../../world.ts";
import type { Finding } from "./finding.ts";

/** Enough for three chains. The service that runs asks about all pairs, one at a time. */
const ASKED_MAX = 6;
/** Until the budget of all processes has a call left. */
const WAIT_MS = 1_000;
const WAITS_MAX = 6;
const PPM_PER_BPS = 100;

type KnownFees = ReturnType<typeof listKnownFees>[number];

/**
 * Whether the bridge's service answers, and what it charges now on each way between two chains. Nothing without a
 * bridge.
 */
export async function checkBridge(world: World): Promise<Finding[]> {
  const { bridge } = world.config;
  if (bridge === undefined) return [];
  await askUnasked(world);
  const { host } = new URL(bridge.attestationUrl);
  const failure = findServiceFailure(world);
  const fees = listKnownFees(world);
  const service = { what: "bridge: service" };
  return [
    failure !== undefined
      ? { ...service, verdict: "fail", found: `${failure.reason}: burns wait` }
      : fees.length === 0
        ? {
            ...service,
            verdict: "warn",
            found: `${host} was not asked: the budget of calls is used up; try again in five minutes`,
          }
        : { ...service, verdict: "ok", found: `${host} answers` },
    ...fees.map((each) => feeFinding(world, each, bridge.fastFeePpmMax)),
  ];
}

async function askUnasked(world: World): Promise<void> {
  let [asked, waits] = [0, 0];
  while (countUnaskedPairs(world) > 0 && asked < ASKED_MAX && waits < WAITS_MAX) {
    if (await refreshFees(world)) asked += 1;
    else {
      waits += 1;
      await world.clock.sleep(WAIT_MS);
    }
  }
}

function feeFinding(world: World, fees: KnownFees, limitPpm: number): Finding {
  const { fastPpm, standardPpm } = fees;
  const [from, to] = [fees.chain, fees.settleChain].map(
    (chain) => findWatchedChain(world.catalog, chain)?.name ?? chain,
  );
  const { fast, standard } = cctpV2Speeds;
  const isAboveLimit = fastPpm !== undefined && fastPpm > limitPpm;
  const isClosed = standardPpm !== undefined && standardPpm > standard.feePpmMax;
  const remedy = isClosed
    ? fastPpm !== undefined && fastPpm <= fast.feePpmMax
      ? `: standard is above its cap of ${toBps(standard.feePpmMax)}, so deposits go fast`
      : ": both are above their caps, so deposits wait"
    : isAboveLimit
      ? `: fast is above bridge.fastFeePpmMax of ${toBps(limitPpm)}, so deposits go standard`
      : "";
  return {
    what: `bridge: ${from} to ${to}`,
    verdict: isAboveLimit || isClosed ? "warn" : "ok",
    found: `fast ${toBps(fastPpm)}, standard ${toBps(standardPpm)}${remedy}`,
  };
}

function toBps(ppm: number | undefined): string {
  return ppm === undefined ? "not offered" : `${ppm / PPM_PER_BPS} bps`;
}
