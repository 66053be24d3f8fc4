import { planForgotten } from "../settlement/planForgotten.ts";
import type { World } from "../world.ts";
import { planTopic } from "./chain/topics.ts";
import type { Loop } from "./loop.ts";

/** A page each time: a million inboxes are looked at in less than six hours. */
const INTERVAL_MS = 10_000;

/** Plans inboxes whose counted money nothing else would plan. */
export function planForgottenLoop(world: World): Loop {
  return {
    name: "forgotten inboxes",
    topic: "forgotten inboxes",
    intervalMs: INTERVAL_MS,
    tick: async () => {
      const found = await planForgotten(world);
      for (const chain of world.chains.values()) if (found.has(chain.caip2)) world.wake.notify(planTopic(chain));
      return false;
    },
  };
}
