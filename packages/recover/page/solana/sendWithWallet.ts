import { ed25519 } from "@noble/curves/ed25519";
import type { SolanaInstruction } from "@tributary/inbox/solana/instructions";
import { encodeKey, encodeSignature } from "@tributary/inbox/solana/keys";
import { encodeTransaction, type EncodedMessage } from "@tributary/inbox/solana/message";
import type { RpcRequester } from "../../src/rpc/rpcRequester.ts";
import { addSignature } from "../../src/solana/addSignature.ts";
import {
  awaitConfirmation,
  prepareMessage,
  submitTransaction,
  type SolanaSigner,
} from "../../src/solana/sendSolanaTransaction.ts";
import { simulateMessage } from "../../src/solana/simulateMessage.ts";
import type { StandardWallet, WalletAccount } from "./walletStandard.ts";

export type WalletSender = {
  readonly request: RpcRequester;
  /** CAIP-2 reference of the cluster that `request` asks. */
  readonly cluster: string;
  readonly wallet: StandardWallet;
  readonly account: WalletAccount;
  readonly onStatus: (text: string) => void;
};

export type WalletCall = {
  readonly instructions: readonly SolanaInstruction[];
  /** A new account that signs beside the wallet. */
  readonly event?: SolanaSigner;
};

/** The names of the Wallet Standard; a private cluster is `solana:localnet`. */
const CHAIN_NAMES: Readonly<Record<string, string>> = {
  "5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp": "solana:mainnet",
  "4uhcVJyU9pJkvQyS88uRDiswHScCKQY3": "solana:testnet",
  EtWTRABZaYq6iMfeYKouRu166VU2xqa1: "solana:devnet",
};
const NO_SIGNATURE = new Uint8Array(64);

/** The key of one new account, which holds nothing after its transaction. */
export function createEventSigner(): SolanaSigner {
  const secret = ed25519.utils.randomPrivateKey();
  return { address: encodeKey(ed25519.getPublicKey(secret)), sign: (bytes) => ed25519.sign(bytes, secret) };
}

/**
 * Has the cluster simulate the call, the wallet sign it, and waits until it is confirmed. Returns its signature. Throws
 * an Error that describes the outcome; the wallet is not asked for a call that would fail.
 */
export async function sendWithWallet(sender: WalletSender, { instructions, event }: WalletCall): Promise<string> {
  const { request, account, wallet, onStatus } = sender;
  const message = await prepareMessage(request, account.address, instructions);
  await simulateMessage(request, message);
  onStatus(`Confirm it in ${wallet.name}.`);
  const signature = await signAndSend(sender, message, event);
  onStatus(`Sent, and waiting for the cluster: ${signature}`);
  return awaitConfirmation(request, signature, (ms) => new Promise((resolve) => setTimeout(resolve, ms)));
}

/**
 * Through the RPC URL of the page if the wallet can sign alone: only so it surely reaches the cluster that was
 * inspected.
 */
async function signAndSend(
  { request, cluster, wallet, account }: WalletSender,
  message: EncodedMessage,
  event: SolanaSigner | undefined,
): Promise<string> {
  const chain = CHAIN_NAMES[cluster] ?? "solana:localnet";
  const isListed = account.chains.includes(chain);
  const unsigned = encodeTransaction(message, new Map(message.signers.map((address) => [address, NO_SIGNATURE])));
  const signing = wallet.features["solana:signTransaction"];
  if (signing !== undefined) {
    const [output] = await signing.signTransaction({ account, transaction: unsigned, ...(isListed && { chain }) });
    if (output === undefined) throw new Error(`${wallet.name} signed nothing.`);
    const { signedTransaction } = output;
    return submit(request, event === undefined ? signedTransaction : addSignature(signedTransaction, event));
  }
  const sending = wallet.features["solana:signAndSendTransaction"];
  if (sending === undefined || !isListed)
    throw new Error(`${wallet.name} cannot sign for this cluster, ${chain}. Connect another wallet.`);
  const transaction = event === undefined ? unsigned : addSignature(unsigned, event);
  const [output] = await sending.signAndSendTransaction({ account, transaction, chain });
  if (output === undefined) throw new Error(`${wallet.name} sent nothing.`);
  return encodeSignature(output.signature);
}

async function submit(request: RpcRequester, transaction: Uint8Array): Promise<string> {
  try {
    return await submitTransaction(request, transaction);
  } catch (error) {
    const isLate = error instanceof Error && /blockhash not found/i.test(error.message);
    throw isLate ? new Error("The wallet answered too late, and nothing was sent. Try again.") : error;
  }
}
