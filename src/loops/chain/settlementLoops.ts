import type { Chain } from "../../chain/chain.ts";
import { findWatchedChain } from "../../catalog/catalog.ts";
import { sweepAgreementsTopic } from "../../settlement/agreement/openAgreements.ts";
import { verifySweeps } from "../../settlement/observe/verifySweeps.ts";
import { landCrossings } from "../../settlement/crossing/landCrossings.ts";
import { observeSettlements } from "../../settlement/observe/observeSettlements.ts";
import { planSettlements } from "../../settlement/planSettlements.ts";
import { replanSettlements } from "../../settlement/replanSettlements.ts";
import { submitSettlements } from "../../settlement/submitSettlements.ts";
import type { World } from "../../world.ts";
import type { Loop } from "../loop.ts";
import { planTopic, sendTopic, submitTopic, TRACK_TOPIC } from "./topics.ts";

// Each step of settling has a loop of its own, so that a hanging provider does not delay what the database alone
// decides. Each wakes the next one. Rows keep the order: a settlement that a sweep has overtaken lands with it, or
// moves nothing and is planned again.

const INTERVAL_MS = 2_000;
const AGREEMENT_INTERVAL_MS = 1_000;
/** Without an agreement rule, only verifications from an earlier configuration remain. */
const INTERVAL_IDLE_MS = 60_000;

/** Observes what the chain has settled. It wakes when movements or deposits have changed. */
export function observeSettlementsLoop(world: World, chain: Chain): Loop {
  return {
    name: `observe settlements ${chain.caip2}`,
    topic: `settlements:${chain.caip2}`,
    intervalMs: INTERVAL_MS,
    tick: async () => {
      const { isDone, hasPassed } = await observeSettlements(world, chain.caip2);
      const landed = await landCrossings(world, chain.caip2);
      if (hasPassed || landed > 0) {
        world.wake.notify("events");
        // What a bridge has taken may be proven.
        world.wake.notify(TRACK_TOPIC);
      }
      if (!isDone || landed > 0) return true;
      world.wake.notify(planTopic(chain));
      return false;
    },
  };
}

/**
 * Asks other providers in a loop of its own, so that a hanging provider does not delay the settlements that need no
 * agreement.
 */
export function verifySweepsLoop(world: World, chain: Chain): Loop {
  const requiresAgreement = findWatchedChain(world.catalog, chain.caip2)?.agreement !== undefined;
  return {
    name: `sweep agreements ${chain.caip2}`,
    topic: sweepAgreementsTopic(chain.caip2),
    intervalMs: requiresAgreement ? AGREEMENT_INTERVAL_MS : INTERVAL_IDLE_MS,
    tick: async () => {
      const { asked, isDone } = await verifySweeps(world, chain);
      // A crossing may land with an agreed sweep.
      if (asked > 0) world.wake.notify(`settlements:${chain.caip2}`);
      return !isDone;
    },
  };
}

/** Plans new settlements, and plans those again that moved nothing. */
export function planSettlementsLoop(world: World, chain: Chain): Loop {
  return {
    name: `plan settlements ${chain.caip2}`,
    topic: planTopic(chain),
    intervalMs: INTERVAL_MS,
    tick: async () => {
      try {
        const planned = await planSettlements(world, chain.caip2);
        return planned > 0;
      } finally {
        if ((await replanSettlements(world, chain.caip2)) > 0) world.wake.notify("events");
        world.wake.notify(submitTopic(chain));
      }
    },
  };
}

/** Asks the chain which planned settlements would move money, and signs their transactions. */
export function submitSettlementsLoop(world: World, chain: Chain): Loop {
  return {
    name: `submit settlements ${chain.caip2}`,
    topic: submitTopic(chain),
    intervalMs: INTERVAL_MS,
    tick: async (signal) => {
      const submitted = await submitSettlements(world, { chain, signal });
      if (submitted === 0) return false;
      world.wake.notify("events");
      world.wake.notify(sendTopic(chain));
      return signal?.aborted !== true;
    },
  };
}

/** Broadcasts signed transactions until a final block holds them, even when a new one cannot be priced. */
export function sendTransactionsLoop(world: World, chain: Chain): Loop {
  return {
    name: `send transactions ${chain.caip2}`,
    topic: sendTopic(chain),
    intervalMs: INTERVAL_MS,
    tick: async () => {
      await chain.sender.process(world);
      return false;
    },
  };
}
