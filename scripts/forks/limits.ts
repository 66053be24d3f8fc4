import { openScene, DEPOSIT_UNITS, FEE_UNITS } from "./scene.ts";
import { DEV_ACCOUNTS } from "../../src/dev/devAccounts.ts";
import type { Fork } from "./evm.ts";

// A settlement at every gas limit, in steps: it moves everything to its right places, or nothing.

export type LimitOutcome = { limits: number; lowest: bigint; wrong: bigint };

export async function runLimits(
  fork: Fork,
  { from, to, step }: { from: bigint; to: bigint; step: bigint },
): Promise<LimitOutcome> {
  const scene = await openScene(fork);
  const terms = scene.terms("at a limit");
  await scene.fund(terms);
  const { payoutFirst: payout, feeRecipient } = DEV_ACCOUNTS;
  const before = [await scene.balanceOf(payout.address), await scene.balanceOf(feeRecipient.address)] as const;
  let [limits, lowest, wrong] = [0, 0n, 0n];
  for (let limit = from; limit <= to; limit += step) {
    limits += 1;
    await scene.chain.attempt(async () => {
      await scene.settle([terms], limit);
      const left = DEPOSIT_UNITS - (await scene.inboxBalance(terms));
      const paid = (await scene.balanceOf(payout.address)) - before[0];
      const fee = (await scene.balanceOf(feeRecipient.address)) - before[1];
      const isNothing = left === 0n && paid === 0n && fee === 0n;
      const isAll = left === DEPOSIT_UNITS && paid === DEPOSIT_UNITS - FEE_UNITS && fee === FEE_UNITS;
      if (!isNothing && !isAll) wrong += 1n;
      if (isAll && lowest === 0n) lowest = limit;
    });
  }
  return { limits, lowest, wrong };
}
