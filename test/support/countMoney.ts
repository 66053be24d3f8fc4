import { countDeposits } from "../../src/deposit/countDeposits.ts";
import { sumDust } from "../../src/deposit/sumDust.ts";
import type { DepositWorld } from "../../src/deposit/decide/applyDecisions.ts";
import type { Caip2 } from "../../src/kernel/caip.ts";

/** Counts everything that is final on a chain: deposits, and dust. */
export async function countMoney(world: DepositWorld, chain: Caip2): Promise<void> {
  await countDeposits(world, chain);
  while (!(await sumDust(world, chain)).isDone);
}
