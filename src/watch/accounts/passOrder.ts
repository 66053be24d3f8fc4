import { perChain } from "../perChain.ts";

/** Whether the current pass over all balances asks the last provider first. */
export const passOrder = perChain(() => ({ isReverse: true }));
