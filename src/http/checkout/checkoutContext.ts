import type { HttpContext } from "../httpContext.ts";
import { StateFeed } from "./events/stateFeed.ts";
import { PayerQuestions } from "./payerQuestions.ts";
import { createPublicLimits, type PublicLimits } from "./session/publicLimits.ts";

/** What the handlers of the page share: the limits of its routes, and the one reader that serves all open pages. */
export type CheckoutContext = HttpContext & {
  readonly limits: PublicLimits;
  readonly feed: StateFeed;
  readonly payerQuestions: PayerQuestions;
};

export function createCheckoutContext(context: HttpContext): CheckoutContext {
  const { world } = context;
  return {
    ...context,
    limits: createPublicLimits(context),
    feed: new StateFeed(world),
    payerQuestions: new PayerQuestions(world),
  };
}
