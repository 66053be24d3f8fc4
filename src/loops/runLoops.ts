import { isReadByAccounts } from "../chain/chain.ts";
import type { World } from "../world.ts";
import { verifyDepositsLoop } from "./chain/verifyDepositsLoop.ts";
import { recheckSuspectBlocksLoop } from "./chain/recheckSuspectBlocksLoop.ts";
import { bindCustomersLoop } from "./bindCustomersLoop.ts";
import { processDepositsLoop } from "./chain/processDepositsLoop.ts";
import { followAccountsLoops } from "./chain/followAccountsLoops.ts";
import { followHeadsLoop, listenToFeedLoop } from "./chain/followHeadsLoop.ts";
import { purgeExpiredLoop } from "./purgeExpiredLoop.ts";
import { runLoop, type Loop } from "./loop.ts";
import { checkTokensLoop } from "./chain/checkTokensLoop.ts";
import { planForgottenLoop } from "./planForgottenLoop.ts";
import { primeAccountsLoop } from "./primeAccountsLoop.ts";
import { reconcileBalancesLoop } from "./chain/reconcileBalancesLoop.ts";
import { recordPostponedLoop } from "./recordPostponedLoop.ts";
import { retryUnreadableLoop } from "./retryUnreadableLoop.ts";
import { scanHintedInboxesLoop } from "./chain/scanHintedInboxesLoop.ts";
import { sumDustLoop } from "./chain/sumDustLoop.ts";
import {
  observeSettlementsLoop,
  verifySweepsLoop,
  planSettlementsLoop,
  sendTransactionsLoop,
  submitSettlementsLoop,
} from "./chain/settlementLoops.ts";
import { findBurnsLoop, receiveCrossingsLoop, refreshFeesLoop, trackCrossingsLoop } from "./bridgeLoops.ts";
import { storeConfiguredLoop } from "./storeConfiguredLoop.ts";
import { updateAlarmsLoop } from "./updateAlarmsLoop.ts";
import { assignEventSequencesLoop } from "./event/assignEventSequencesLoop.ts";
import { webhookLoops } from "./webhook/webhookLoops.ts";
import { watchEpochLoop } from "./event/watchEpochLoop.ts";
import { watchChainLoop } from "./chain/watchChainLoop.ts";

/** Creates every loop of a world. Loops of one chain are in the order in which they hand rows over. */
export function createLoops(world: World): Loop[] {
  const loops: Loop[] = [
    watchEpochLoop(world),
    assignEventSequencesLoop(world),
    purgeExpiredLoop(world),
    planForgottenLoop(world),
    storeConfiguredLoop(world),
  ];
  if (world.hostMetrics !== undefined) loops.push(updateAlarmsLoop(world));
  if (world.refreshClock !== undefined) loops.push(refreshClockLoop(world.refreshClock));
  if (world.outbound !== undefined) loops.push(...webhookLoops(world, world.outbound));
  if (world.gate !== undefined) loops.push(bindCustomersLoop(world));
  if (world.bridge !== undefined) loops.push(trackCrossingsLoop(world, world.bridge), refreshFeesLoop(world));
  for (const chain of world.chains.values()) {
    if (chain.sender.bridge !== undefined) loops.push(receiveCrossingsLoop(world, chain), findBurnsLoop(world, chain));
    if (chain.sender.checkTokens !== undefined) loops.push(checkTokensLoop(world, chain));
    if (chain.sender.accounts !== undefined) loops.push(primeAccountsLoop(world, chain));
    if (chain.feeds.length > 0) loops.push(followHeadsLoop(world, chain));
    loops.push(
      ...chain.feeds.map((feed) => listenToFeedLoop(world, chain, feed)),
      watchChainLoop(world, chain),
      recheckSuspectBlocksLoop(world, chain),
      scanHintedInboxesLoop(world, chain),
      retryUnreadableLoop(world, chain),
      recordPostponedLoop(world, chain),
      ...(isReadByAccounts(chain) ? followAccountsLoops(world, chain) : [reconcileBalancesLoop(world, chain)]),
      processDepositsLoop(world, chain),
      sumDustLoop(world, chain),
      verifyDepositsLoop(world, chain),
      observeSettlementsLoop(world, chain),
      verifySweepsLoop(world, chain),
      planSettlementsLoop(world, chain),
      submitSettlementsLoop(world, chain),
      sendTransactionsLoop(world, chain),
    );
  }
  return loops;
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
