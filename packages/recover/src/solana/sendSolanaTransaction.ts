import type { SolanaInstruction } from "@tributary/inbox/solana/instructions";
import { encodeMessage, encodeTransaction, type EncodedMessage } from "@tributary/inbox/solana/message";
import type { RpcRequester } from "../rpc/rpcRequester.ts";

/** Signs bytes with the key of an address. */
export type SolanaSigner = { readonly address: string; sign(bytes: Uint8Array): Uint8Array };

export type SolanaSender = {
  readonly request: RpcRequester;
  /** The first one pays the fees. */
  readonly signers: readonly SolanaSigner[];
  readonly sleep: (ms: number) => Promise<void>;
};

type SignatureStatus = { readonly err: unknown; readonly confirmationStatus: string };

const POLL_MS = 500;
/** A transaction expires with its block hash, after about a minute and a half. */
const POLLS_MAX = 240;

/**
 * Sends the instructions as one transaction and waits until it is confirmed. Resolves with its signature. Throws an
 * Error when the cluster refuses it, or when it fails or expires; then it moved nothing.
 */
export async function sendSolanaTransaction(
  { request, signers, sleep }: SolanaSender,
  instructions: readonly SolanaInstruction[],
): Promise<string> {
  const [payer] = signers;
  if (payer === undefined) throw new Error("a transaction needs a payer");
  const message = await prepareMessage(request, payer.address, instructions);
  const signatures = new Map(signers.map((signer) => [signer.address, signer.sign(message.bytes)]));
  const signature = await submitTransaction(request, encodeTransaction(message, signatures));
  return awaitConfirmation(request, signature, sleep);
}

/** Encodes the message with a recent block hash, with which it expires. */
export async function prepareMessage(
  request: RpcRequester,
  feePayer: string,
  instructions: readonly SolanaInstruction[],
): Promise<EncodedMessage> {
  const latest = (await request("getLatestBlockhash", [{ commitment: "confirmed" }])) as {
    value: { blockhash: string };
  };
  return encodeMessage({ feePayer, blockhash: latest.value.blockhash, instructions });
}

/** Sends a signed transaction, which the node simulates first. Resolves with its signature. */
export async function submitTransaction(request: RpcRequester, transaction: Uint8Array): Promise<string> {
  const options = { encoding: "base64", preflightCommitment: "confirmed" };
  return (await request("sendTransaction", [encodeBase64(transaction), options])) as string;
}

/**
 * Waits until a transaction is confirmed, and resolves with its signature. Throws an Error when it fails or is not
 * confirmed in time.
 */
export async function awaitConfirmation(
  request: RpcRequester,
  signature: string,
  sleep: SolanaSender["sleep"],
): Promise<string> {
  for (let poll = 0; poll < POLLS_MAX; poll += 1) {
    const { value } = (await request("getSignatureStatuses", [[signature]])) as { value: (SignatureStatus | null)[] };
    const status = value[0] ?? undefined;
    if (status !== undefined && status.err !== null)
      throw new Error(`${signature} failed and moved nothing: ${JSON.stringify(status.err)}`);
    if (status !== undefined && status.confirmationStatus !== "processed") return signature;
    await sleep(POLL_MS);
  }
  throw new Error(`${signature} was sent and is not confirmed yet. To look again later, or to send it again, is safe.`);
}

export function encodeBase64(bytes: Uint8Array): string {
  return btoa(String.fromCharCode(...bytes));
}
