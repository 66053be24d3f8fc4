import { SettleRefused, type PreparedMint, type SenderWorld } from "../../sender.ts";
import { CallReverted } from "../node.ts";
import type { SenderContext } from "./senderContext.ts";
import type { SettleCall } from "./settleCall.ts";
import { presentFee } from "./fees.ts";
import { quoteFees, signAndStore } from "./signAndStore.ts";

export type SettlePlan = { call: SettleCall; gasLimit: bigint };

/**
 * Prices a call that `plan` chooses; undefined while the fees exceed the ceiling. Throws SettleRefused when the chain
 * would refuse it.
 */
export async function prepareCall(
  world: SenderWorld,
  context: SenderContext,
  plan: () => Promise<SettlePlan>,
): Promise<PreparedMint | undefined> {
  const fees = await quoteFees(world, context);
  if (fees === undefined) return undefined;
  const { call, gasLimit } = await mapReverted(plan);
  return {
    store: (tx, at) => signAndStore(tx, context, { call, quote: { gasLimit, fees }, at }),
    work: gasLimit,
    fee: presentFee(gasLimit, fees),
  };
}

/** Throws SettleRefused for CallReverted. */
export async function mapReverted<T>(request: () => Promise<T>): Promise<T> {
  try {
    return await request();
  } catch (error) {
    if (!(error instanceof CallReverted)) throw error;
    throw new SettleRefused(error.message, { cause: error });
  }
}
