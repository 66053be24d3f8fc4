import { deriveTokenAccount } from "@tributary/inbox/solana/derive";
import type { SolanaInstruction } from "@tributary/inbox/solana/instructions";
import { raiseAlarm } from "../../../kernel/alarm/raiseAlarm.ts";
import { warnRepeated } from "../../../kernel/alarm/repeatedWarning.ts";
import { askLowerMedian } from "../../lowerMedian.ts";
import type { SenderWorld } from "../../sender.ts";
import type { SolanaSenderContext } from "./senderContext.ts";
import { fetchPriorityFees } from "./sendRequests.ts";

// Every signed transaction offers at most the configured price of a compute unit. A quote is only a hint: strangers can
// bid on an account. So a higher one means to offer the ceiling. What no block takes at that price expires, and costs
// nothing.

/** In micro-lamports. Quiet blocks include any price; this costs less than a lamport for a thousand units. */
const PRICE_MIN = 10_000n;
/** Of the prices of the last blocks, this share is not above the quote. */
const QUOTE_PERCENTILE = 75;
/** After an expired transaction the next one offers this many times more. */
const RAISE_FACTOR = 4n;

/** `isExceeded`: the quote is above the ceiling. */
export type OfferedPrice = { price: bigint; isExceeded: boolean };

/**
 * The price to offer, in micro-lamports a compute unit. Logs an alarm when the cluster's begins to exceed the ceiling.
 */
export async function requestPrice(world: SenderWorld, context: SolanaSenderContext): Promise<OfferedPrice> {
  const quote = await fetchQuote(context);
  const { feeCeiling } = context;
  const { computeUnitPriceMax } = feeCeiling;
  const isExceeded = quote > computeUnitPriceMax;
  const facts = {
    chain: context.caip2,
    computeUnitPrice: String(quote),
    computeUnitPriceMax: String(computeUnitPriceMax),
  };
  if (isExceeded && !feeCeiling.isExceeded)
    raiseAlarm(world.log, { alarm: "gas_price_above_ceiling", ...facts }, "the priority fee is above the ceiling");
  if (!isExceeded && feeCeiling.isExceeded) world.log.info(facts, "the priority fee is below the ceiling again");
  feeCeiling.isExceeded = isExceeded;
  return { price: raisePrice(context, quote), isExceeded };
}

/**
 * The price to offer for a transaction with these instructions, by what blocks took from others that wrote its
 * accounts.
 */
export async function requestPriceOf(
  world: SenderWorld,
  context: SolanaSenderContext,
  instructions: readonly SolanaInstruction[],
): Promise<OfferedPrice> {
  const accounts = contendedAccounts(context, instructions);
  const quote = await fetchQuote(context, accounts);
  const { computeUnitPriceMax } = context.feeCeiling;
  const price = raisePrice(context, quote);
  if (quote <= computeUnitPriceMax) return { price, isExceeded: false };
  const fields = {
    chain: context.caip2,
    computeUnitPrice: String(quote),
    computeUnitPriceMax: String(computeUnitPriceMax),
    accounts,
  };
  const message = "the priority fee of a transaction's accounts is above the ceiling, which is offered";
  warnRepeated(world, { key: `priority fee ${context.caip2}`, fields, message });
  return { price, isExceeded: true };
}

/**
 * The accounts that the instructions write, without those that only this service writes: their price would be its own
 * last offer.
 */
function contendedAccounts(
  { feePayer, feeRecipient, tokenPrograms }: SolanaSenderContext,
  instructions: readonly SolanaInstruction[],
): string[] {
  const own = [...tokenPrograms].map(([mint, program]) => deriveTokenAccount(feeRecipient, mint, program).address);
  const written = instructions.flatMap(({ accounts }) => accounts.filter(({ isWritable }) => isWritable));
  const contended = new Set(written.map(({ address }) => address)).difference(new Set([feePayer.address, ...own]));
  return [...contended].slice(0, ACCOUNTS_MAX);
}

function raisePrice({ feeCeiling }: SolanaSenderContext, quote: bigint): bigint {
  const { computeUnitPriceMax } = feeCeiling;
  const floor = quote > PRICE_MIN ? quote : PRICE_MIN;
  const raised = floor * RAISE_FACTOR ** BigInt(Math.min(feeCeiling.expiredInRow, EXPIRED_MAX));
  return raised < computeUnitPriceMax ? raised : computeUnitPriceMax;
}

/** Accounts of one quote. */
const ACCOUNTS_MAX = 128;
/** More factors than this exceed every ceiling. */
const EXPIRED_MAX = 20;

/** The lower median of the providers' quotes, so that one false quote of two or more changes nothing upwards. */
export async function fetchQuote(
  { providers }: SolanaSenderContext,
  accounts: readonly string[] = [],
): Promise<bigint> {
  return askLowerMedian(providers, async (node) => percentile(await fetchPriorityFees(node, accounts)));
}

function percentile(prices: readonly bigint[]): bigint {
  const sorted = prices.toSorted((one, other) => (one < other ? -1 : 1));
  return sorted[Math.ceil((sorted.length * QUOTE_PERCENTILE) / 100) - 1] ?? 0n;
}
