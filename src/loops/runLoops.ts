import type { Chain } from "../chain/chain.ts";
import { hasRole } from "../config/operate/roles.ts";
import type { World } from "../world.ts";
import { verifyDepositsLoop } from "./chain/verifyDepositsLoop.ts";
import { recheckSuspectBlocksLoop } from "./chain/recheckSuspectBlocksLoop.ts";
import { bindCustomersLoop } from "./bindCustomersLoop.ts";
import { processDepositsLoop } from "./chain/processDepositsLoop.ts";
import { followAccountsLoops } from "./chain/followAccountsLoops.ts";
import { followHeadsLoop, listenToFeedLoop } from "./chain/followHeadsLoop.ts";
import { applyPayoutChangesLoop } from "./dashboard/applyPayoutChangesLoop.ts";
import { updateSettlementDaysLoop } from "./dashboard/updateSettlementDaysLoop.ts";
import { purgeExpiredLoop } from "./purgeExpiredLoop.ts";
import { runLoop, type Loop } from "./loop.ts";
import { checkCountedLoop } from "./checkCountedLoop.ts";
import { checkTokensLoop } from "./chain/checkTokensLoop.ts";
import { planForgottenLoop } from "./planForgottenLoop.ts";
import { primeAccountsLoop } from "./primeAccountsLoop.ts";
import { reconcileBalancesLoop } from "./chain/reconcileBalancesLoop.ts";
import { recordPostponedLoop } from "./late/recordPostponedLoop.ts";
import { retryUnreadableLoop } from "./late/retryUnreadableLoop.ts";
import { scanHintedInboxesLoop } from "./chain/scanHintedInboxesLoop.ts";
import { sumDustLoop } from "./chain/sumDustLoop.ts";
import {
  observeSettlementsLoop,
  verifySweepsLoop,
  planSettlementsLoop,
  sendTransactionsLoop,
  submitSettlementsLoop,
} from "./chain/settlementLoops.ts";
import {
  findBurnsLoop,
  receiveCrossingsLoop,
  reclaimRentLoop,
  refreshFeesLoop,
  trackCrossingsLoop,
} from "./bridgeLoops.ts";
import { reportProcessLoop } from "./reportProcessLoop.ts";
import { storeConfiguredLoop } from "./storeConfiguredLoop.ts";
import { updateAlarmsLoop } from "./updateAlarmsLoop.ts";
import { assignEventSequencesLoop } from "./event/assignEventSequencesLoop.ts";
import { webhookLoops } from "./webhook/webhookLoops.ts";
import { watchEpochLoop } from "./event/watchEpochLoop.ts";
import { watchChainLoop } from "./chain/watchChainLoop.ts";

/** Creates the loops of a world's roles. Loops of one chain are in the order in which they hand rows over. */
export function createLoops(world: World): Loop[] {
  const { config } = world;
  return [
    watchEpochLoop(world),
    ...commonLoops(world),
    ...(hasRole(config, "watch") ? watchLoops(world) : []),
    ...(hasRole(config, "settle") ? settleLoops(world) : []),
    ...(hasRole(config, "deliver") && world.outbound !== undefined ? webhookLoops(world, world.outbound) : []),
    ...[...world.chains.values()].flatMap((chain) => [
      ...commonChainLoops(world, chain),
      ...(hasRole(config, "watch") ? watchChainLoops(world, chain) : []),
      ...(hasRole(config, "settle") ? settleChainLoops(world, chain) : []),
    ]),
  ];
}

/** What every process does, whatever its roles. */
function commonLoops(world: World): Loop[] {
  return [
    ...(world.hostMetrics === undefined ? [] : [reportProcessLoop(world), updateAlarmsLoop(world)]),
    ...(world.refreshClock === undefined ? [] : [refreshClockLoop(world.refreshClock)]),
  ];
}

/** Issuing and settling both depend on what issuers changed, and each process remembers that for itself. */
function commonChainLoops(world: World, chain: Chain): Loop[] {
  return chain.sender.checkTokens === undefined ? [] : [checkTokensLoop(world, chain)];
}

function watchLoops(world: World): Loop[] {
  return [
    assignEventSequencesLoop(world),
    purgeExpiredLoop(world),
    applyPayoutChangesLoop(world),
    checkCountedLoop(world),
    storeConfiguredLoop(world),
    ...(world.gate === undefined ? [] : [bindCustomersLoop(world)]),
  ];
}

function settleLoops(world: World): Loop[] {
  return [
    planForgottenLoop(world),
    updateSettlementDaysLoop(world),
    ...(world.bridge === undefined ? [] : [trackCrossingsLoop(world, world.bridge), refreshFeesLoop(world)]),
  ];
}

function watchChainLoops(world: World, chain: Chain): Loop[] {
  return [
    ...(chain.feeds.length > 0 ? [followHeadsLoop(world, chain)] : []),
    ...chain.feeds.map((feed) => listenToFeedLoop(world, chain, feed)),
    watchChainLoop(world, chain),
    recheckSuspectBlocksLoop(world, chain),
    scanHintedInboxesLoop(world, chain),
    retryUnreadableLoop(world, chain),
    recordPostponedLoop(world, chain),
    ...(chain.detection === "balances" ? followAccountsLoops(world, chain) : [reconcileBalancesLoop(world, chain)]),
    processDepositsLoop(world, chain),
    sumDustLoop(world, chain),
    verifyDepositsLoop(world, chain),
  ];
}

function settleChainLoops(world: World, chain: Chain): Loop[] {
  return [
    ...(chain.sender.bridge === undefined ? [] : [receiveCrossingsLoop(world, chain), findBurnsLoop(world, chain)]),
    ...(chain.sender.bridge?.prepareReclaim === undefined ? [] : [reclaimRentLoop(world, chain)]),
    ...(chain.sender.accounts === undefined ? [] : [primeAccountsLoop(world, chain)]),
    observeSettlementsLoop(world, chain),
    verifySweepsLoop(world, chain),
    planSettlementsLoop(world, chain),
    submitSettlementsLoop(world, chain),
    sendTransactionsLoop(world, chain),
  ];
}

/** A step of the clock's source is followed after at most this time. */
const CLOCK_MS = 30_000;

function refreshClockLoop(refresh: () => Promise<void>): Loop {
  return {
    name: "clock",
    topic: "clock",
    intervalMs: CLOCK_MS,
    tick: async () => {
      await refresh();
      return false;
    },
  };
}

/**
 * Runs every loop until `signal` aborts, and resolves when all have ended. Rejects at once when a loop meets
 * FatalError; the caller must then end the process.
 */
export async function runLoops(world: World, signal: AbortSignal): Promise<void> {
  await Promise.all(createLoops(world).map((loop) => runLoop(world, loop, signal)));
}
