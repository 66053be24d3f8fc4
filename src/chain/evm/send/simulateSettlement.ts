import { initialGasLimit, raiseGasLimit, TRANSACTION_GAS_MAX } from "@tributary/inbox/gasLimit";
import { ProviderFailed } from "../../reader.ts";
import { SettleRefused, type SettleItem } from "../../sender.ts";
import { CallReverted, type EvmNode } from "../node.ts";
import type { EvmProviders } from "../evmProviders.ts";
import type { SenderContext } from "./senderContext.ts";
import { decodeFailures, settleManyCall, type SettleCall } from "./settleCall.ts";

type ItemFailures = (string | undefined)[];

/** Why each item would not settle with plenty of gas; undefined where it would. */
export function findFailures(providers: EvmProviders, items: readonly SettleItem[]): Promise<ItemFailures> {
  return confirmFailures(providers, async (node) => {
    if (!(await node.hasCode(items[0]?.hub ?? ""))) return items.map(() => "hub_missing");
    const { to, data } = settleManyCall(items);
    const failures = decodeFailures(await node.call({ to, data }));
    return failures.map((name) => (name === undefined ? undefined : `settle_refused ${name}`));
  });
}

/**
 * One provider's refusal must not delay money, because a failed attempt costs only gas. A second provider simulates
 * too, where there is one, and both must refuse.
 */
async function confirmFailures(
  providers: EvmProviders,
  simulate: (node: EvmNode) => Promise<ItemFailures>,
): Promise<ItemFailures> {
  const hasSingleProvider = providers.providerCount < 2;
  let first: ItemFailures | undefined;
  try {
    first = await simulate(providers);
  } catch (error) {
    const isAnswer = error instanceof CallReverted || error instanceof ProviderFailed;
    if (!isAnswer || hasSingleProvider) throw error;
  }
  if (first && (hasSingleProvider || first.every((reason) => reason === undefined))) return first;
  const second = await providers.runLastFirst(simulate);
  return first === undefined
    ? second
    : first.map((reason, index) => (second[index] === undefined ? undefined : reason));
}

/**
 * Finds a gas limit at which every item settles in a simulation, so that the transaction can be sent with exactly this
 * limit. The hub reverts a batch whose items could not have their gas, so the estimate suffices; state may change until
 * the simulation. At the first hub the estimate alone did not suffice: items fail there at a limit that it accepts. A
 * fee that a hub pays or forfeits at this limit is the same as with more gas, because it fails an item rather than let
 * too little gas decide. Throws CallReverted when the call would revert, SettleRefused when an item fails at the
 * highest limit too.
 */
export async function findGasLimit(context: SenderContext, call: SettleCall): Promise<bigint> {
  const { providers, gasAccount } = context;
  const { to, data } = call;
  const estimated = await providers.estimateGas({ to, data, from: gasAccount.address });
  const first = initialGasLimit(estimated, TRANSACTION_GAS_MAX);
  if ((await findFailureAt(context, call, first)) === undefined) return first;
  const blockGasLimit = await providers.blockGasLimit();
  const gasMax = blockGasLimit < TRANSACTION_GAS_MAX ? blockGasLimit : TRANSACTION_GAS_MAX;
  const failure = await findFailureAt(context, call, gasMax);
  if (failure !== undefined) throw new SettleRefused(failure);
  let limit = raiseGasLimit(first, gasMax);
  while (limit !== undefined && (await findFailureAt(context, call, limit)) !== undefined)
    limit = raiseGasLimit(limit, gasMax);
  return limit ?? gasMax;
}

/** The first failure of the call at a gas limit; undefined when everything settles. */
async function findFailureAt(
  { providers, gasAccount }: SenderContext,
  { to, data, failuresIn }: SettleCall,
  gas: bigint,
): Promise<string | undefined> {
  try {
    const failures = await confirmFailures(providers, async (node) => {
      const result = await node.call({ from: gasAccount.address, to, data, gas });
      return [...failuresIn(result)];
    });
    return failures.find((failure) => failure !== undefined);
  } catch (error) {
    if (error instanceof CallReverted) return error.message;
    throw error;
  }
}
