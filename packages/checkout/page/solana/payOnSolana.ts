import { buildPayment } from "@tributary/inbox/solana/instructions";
import { encodeKey, encodeSignature, parseKey } from "@tributary/inbox/solana/keys";
import { encodeMessage } from "@tributary/inbox/solana/message";
import { readCode, type WalletReply } from "../walletReply.ts";
import type { StandardWallet, WalletAccount } from "./standardWallets.ts";

export type SolanaPayment = {
  /** Answers with the transaction for an account. */
  readonly requestUrl: string;
  /** CAIP-2 reference of the cluster. */
  readonly cluster: string;
  /** Takes the transaction of a wallet that signs and does not send. */
  readonly publicRpcUrl: string;
  readonly inbox: { readonly address: string; readonly mint: string; readonly tokenProgram: string };
  readonly units: bigint;
  readonly decimals: number;
  /** Called just before the wallet gets the transaction; false where another attempt has replaced this one. */
  readonly hand: () => boolean;
};

/** The names of the Wallet Standard; a private cluster is `solana:localnet`. */
const CHAIN_NAMES: Readonly<Record<string, string>> = {
  "5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp": "solana:mainnet",
  "4uhcVJyU9pJkvQyS88uRDiswHScCKQY3": "solana:testnet",
  EtWTRABZaYq6iMfeYKouRu166VU2xqa1: "solana:devnet",
};
/** Of the transaction's blockhash. A simulation at a later one does not know it. */
const COMMITMENT = "confirmed";
/** The number of signatures, and the empty one of the payer. */
const SIGNATURES_BYTES = 65;
/** The header and the number of accounts, which is below 128. */
const MESSAGE_START_BYTES = 4;
const KEY_BYTES = 32;

/** Asks the wallet for one transfer to the inbox, on the right cluster, and for nothing else. */
export async function payOnSolana(wallet: StandardWallet, payment: SolanaPayment): Promise<WalletReply> {
  const chain = CHAIN_NAMES[payment.cluster] ?? "solana:localnet";
  try {
    const { accounts } = await wallet.features["standard:connect"].connect();
    const account = accounts.find(({ address, chains }) => parseKey(address) !== undefined && chains.includes(chain));
    if (account === undefined) return { reason: "network" };
    const transaction = await requestTransaction(payment, account.address);
    if (!(transaction instanceof Uint8Array)) return transaction;
    if (!payment.hand()) return {};
    return { hash: await signAndSend(wallet, { account, transaction, chain }, payment.publicRpcUrl) };
  } catch (error) {
    return { reason: readCode(error) };
  }
}

async function requestTransaction(payment: SolanaPayment, payer: string): Promise<Uint8Array | WalletReply> {
  const answer = await post(payment.requestUrl, { account: payer });
  const { transaction, error } = answer as { transaction?: string; error?: { param?: string } };
  if (transaction === undefined) return error?.param === "account" ? { reason: "poor" } : {};
  const bytes = Uint8Array.from(atob(transaction), (character) => character.charCodeAt(0));
  return isPlainPayment(bytes, payment, payer) ? bytes : {};
}

/**
 * Whether the bytes are the transfer that the page shows, and nothing beside it: the page computes them itself, but for
 * the blockhash.
 */
function isPlainPayment(transaction: Uint8Array, payment: SolanaPayment, payer: string): boolean {
  const message = transaction.subarray(SIGNATURES_BYTES);
  const start = MESSAGE_START_BYTES + KEY_BYTES * (message[MESSAGE_START_BYTES - 1] ?? 0);
  const blockhash = encodeKey(message.slice(start, start + KEY_BYTES));
  const instructions = buildPayment(payment.inbox, { ...payment, payer });
  const expected = encodeMessage({ feePayer: payer, blockhash, instructions }).bytes;
  return message.length === expected.length && message.every((byte, index) => byte === expected[index]);
}

type Signing = { readonly account: WalletAccount; readonly transaction: Uint8Array; readonly chain: string };

/** Returns the signature, as far as it is known. */
async function signAndSend(
  { features }: StandardWallet,
  signing: Signing,
  rpcUrl: string,
): Promise<string | undefined> {
  const sender = features["solana:signAndSendTransaction"];
  if (sender !== undefined) {
    const [sent] = await sender.signAndSendTransaction({ ...signing, options: { preflightCommitment: COMMITMENT } });
    return sent === undefined ? undefined : encodeSignature(sent.signature);
  }
  const [output] = (await features["solana:signTransaction"]?.signTransaction(signing)) ?? [];
  if (output === undefined) throw new Error("the wallet signed nothing");
  const signed = btoa(String.fromCharCode(...output.signedTransaction));
  const params = [signed, { encoding: "base64", preflightCommitment: COMMITMENT }];
  const sent = await post(rpcUrl, { jsonrpc: "2.0", id: 1, method: "sendTransaction", params });
  if ((sent as { result?: unknown }).result === undefined) throw new Error("the cluster refused the transaction");
  return encodeSignature(output.signedTransaction.slice(1, SIGNATURES_BYTES));
}

async function post(url: string, body: object): Promise<unknown> {
  const headers = { "content-type": "application/json" };
  const response = await fetch(url, { method: "POST", headers, body: JSON.stringify(body), credentials: "omit" });
  return response.json();
}
