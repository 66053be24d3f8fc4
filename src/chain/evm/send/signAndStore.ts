import type { Db, Tx } from "../../../db/database.ts";
import { referenceOf } from "../../../kernel/caip.ts";
import type { Clock } from "../../../kernel/clock.ts";
import type { Chain } from "../../chain.ts";
import { TRANSACTION_GAS_MAX, type ChainCall, type ChainDriver, type FeeQuote } from "../../driver.ts";
import { insertOutgoing, isGasAccountRegistered, registerGasAccount, allocateNonce } from "./outgoingStore.ts";

/** What of the world sending needs; the ground knows no more of it. */
type SigningWorld = { readonly db: Db; readonly clock: Clock };

/** What a transaction will cost at most, asked of the chain before any row is written. */
export type CallQuote = { gasLimit: bigint; fees: FeeQuote };

/** Head-room over the estimate: state may change between now and the block, and unused gas is not paid. */
const GAS_MARGIN_PERCENT = 140n;

/** Asks what a call costs. Throws CallReverted when the chain would refuse it, ProviderFailed when nobody answers. */
export async function quoteCall(
  world: SigningWorld,
  context: { chain: Chain; driver: ChainDriver; call: ChainCall },
): Promise<CallQuote> {
  const { chain, driver } = context;
  const from = chain.gasAccount.address;
  await ensureGasAccount(world, chain);
  const [gas, fees] = await Promise.all([driver.estimateGas({ ...context.call, from }), driver.fees()]);
  const gasLimit = (gas * GAS_MARGIN_PERCENT) / 100n;
  return { gasLimit: gasLimit > TRANSACTION_GAS_MAX ? TRANSACTION_GAS_MAX : gasLimit, fees };
}

/** A first nonce that is too low is told by the chain and mended; behind one that is too high nothing would ever be mined. */
async function ensureGasAccount(world: SigningWorld, chain: Chain): Promise<void> {
  const account = { chain: chain.caip2, address: chain.gasAccount.address };
  if (await isGasAccountRegistered(world.db, account)) return;
  await registerGasAccount(world.db, { ...account, nextNonce: await chain.providers.lowestNonce(account.address) });
}

/**
 * Takes a nonce, signs and stores the bytes, in the caller's transaction: with the commit the sending is as good as sent, since
 * processOutgoingTransactions broadcasts stored bytes until the chain has them. Returns the sending's id.
 */
export async function signAndStore(
  tx: Tx,
  chain: Chain,
  outgoing: { call: ChainCall; quote: CallQuote; at: Date },
): Promise<bigint> {
  const nonce = await allocateNonce(tx, { chain: chain.caip2, address: chain.gasAccount.address });
  return signAndStoreAtNonce(tx, chain, { ...outgoing, nonce });
}

/** The same for a nonce that was taken before and is free again. */
export async function signAndStoreAtNonce(
  tx: Tx,
  chain: Chain,
  outgoing: { call: ChainCall; quote: CallQuote; at: Date; nonce: bigint },
): Promise<bigint> {
  const sender = chain.gasAccount.address;
  const { nonce } = outgoing;
  const { gasLimit, fees } = outgoing.quote;
  const signed = await chain.gasAccount.sign({
    chainId: Number(referenceOf(chain.caip2)),
    nonce,
    to: outgoing.call.to,
    data: outgoing.call.data,
    gasLimit,
    ...fees,
  });
  const { to: recipient, data } = outgoing.call;
  return insertOutgoing(tx, {
    chain: chain.caip2,
    sender,
    nonce,
    recipient,
    data,
    gasLimit,
    fees,
    signed,
    at: outgoing.at,
  });
}
