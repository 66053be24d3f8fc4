import { initialGasLimit, TRANSACTION_GAS_MAX } from "@tributary/inbox/gasLimit";
import type { Tx } from "../../../db/database.ts";
import { referenceOf } from "../../../kernel/caip.ts";
import type { EvmCall, FeeLimits } from "../node.ts";
import { limitFees, requestFees } from "./fees.ts";
import {
  insertOutgoing,
  isGasAccountRegistered,
  registerGasAccount,
  allocateNonce,
} from "../../outgoing/outgoingStore.ts";
import type { SenderWorld } from "../../sender.ts";
import type { SenderContext } from "./senderContext.ts";

/** A transaction's maximum cost, quoted before any row is written. */
export type CallQuote = { gasLimit: bigint; fees: FeeLimits };

/**
 * Quotes a call; undefined while the fees exceed the ceiling. Throws CallReverted when the chain would refuse it,
 * ProviderFailed when no provider answers.
 */
export async function quoteCall(
  world: SenderWorld,
  context: SenderContext,
  call: EvmCall,
): Promise<CallQuote | undefined> {
  const fees = await quoteFees(world, context);
  if (fees === undefined) return undefined;
  const gas = await context.providers.estimateGas({ ...call, from: context.gasAccount.address });
  return { gasLimit: initialGasLimit(gas, TRANSACTION_GAS_MAX), fees };
}

/**
 * The fee limits of a new transaction; undefined while the fees exceed the ceiling. Registers the gas account first.
 */
export async function quoteFees(world: SenderWorld, context: SenderContext): Promise<FeeLimits | undefined> {
  await ensureGasAccount(world, context);
  const quote = await requestFees(world, context);
  return quote && limitFees(quote, context.feeCeiling.maxFeePerGas);
}

/** A first nonce that is too low is rejected and corrected; one that is too high would block every transaction. */
async function ensureGasAccount(world: SenderWorld, context: SenderContext): Promise<void> {
  const account = { chain: context.caip2, address: context.gasAccount.address };
  if (await isGasAccountRegistered(world.db, account)) return;
  await registerGasAccount(world.db, { ...account, nextNonce: await context.providers.lowestNonce(account.address) });
}

/**
 * Allocates a nonce, signs and stores the bytes in the caller's transaction. The commit makes the broadcast certain,
 * because processOutgoingTransactions repeats it. Returns the transaction's id.
 */
export async function signAndStore(
  tx: Tx,
  context: SenderContext,
  outgoing: { call: EvmCall; quote: CallQuote; at: Date },
): Promise<bigint> {
  const nonce = await allocateNonce(tx, { chain: context.caip2, address: context.gasAccount.address });
  return signAndStoreAtNonce(tx, context, { ...outgoing, nonce });
}

/** Same as signAndStore, for a nonce that was used before and is free again. */
export async function signAndStoreAtNonce(
  tx: Tx,
  context: SenderContext,
  outgoing: { call: EvmCall; quote: CallQuote; at: Date; nonce: bigint },
): Promise<bigint> {
  const sender = context.gasAccount.address;
  const { nonce } = outgoing;
  const { gasLimit, fees } = outgoing.quote;
  const signed = await context.gasAccount.sign({
    chainId: Number(referenceOf(context.caip2)),
    nonce,
    to: outgoing.call.to,
    data: outgoing.call.data,
    gasLimit,
    ...fees,
  });
  const { to: recipient, data } = outgoing.call;
  return insertOutgoing(tx, {
    chain: context.caip2,
    sender,
    call: { nonce, recipient, data, gasLimit },
    fees,
    sign: () => signed,
    at: outgoing.at,
  });
}
