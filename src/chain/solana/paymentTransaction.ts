import { buildPayment } from "@tributary/inbox/solana/instructions";
import { parseKey } from "@tributary/inbox/solana/keys";
import { encodeMessage, encodeTransaction } from "@tributary/inbox/solana/message";
import type { ChainReader } from "../reader.ts";

// The transaction that a payer's wallet signs. The service signs none of it.

export type PaymentRequest = {
  /** The wallet that pays the units and the fee. */
  readonly payer: string;
  /** Owner of the token account that receives. */
  readonly inbox: string;
  readonly mint: string;
  readonly tokenProgram: string;
  readonly units: bigint;
  readonly decimals: number;
};

const NO_SIGNATURE = new Uint8Array(64);

export function isWalletAddress(text: unknown): text is string {
  return parseKey(text) !== undefined;
}

/**
 * Builds the transfer from the payer's token account to the inbox's one, with the blockhash of the provider's newest
 * block. Throws ProviderFailed.
 */
export async function preparePayment(reader: Pick<ChainReader, "head">, request: PaymentRequest): Promise<Uint8Array> {
  const { payer, inbox: address, mint, tokenProgram } = request;
  // The hash of a skipped slot names the block before it.
  const [blockhash = ""] = (await reader.head("latest")).hash.split("~");
  const instructions = buildPayment({ address, mint, tokenProgram }, request);
  const message = encodeMessage({ feePayer: payer, blockhash, instructions });
  return encodeTransaction(message, new Map([[payer, NO_SIGNATURE]]));
}

/** Whether the wallet holds the units. True where the reader lists no holdings: then the wallet finds out. */
export async function holdsUnits(reader: Pick<ChainReader, "holdings">, request: PaymentRequest): Promise<boolean> {
  const held = await reader.holdings?.(request.mint, [request.payer]);
  return held === undefined || (held.units[0] ?? 0n) >= request.units;
}
