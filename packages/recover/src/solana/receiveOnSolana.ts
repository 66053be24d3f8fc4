import { cctpTransmitter, deriveCctpAccounts } from "@tributary/inbox/solana/cctp";
import { buildReceiveMessage, deriveUsedNonce } from "@tributary/inbox/solana/cctpInstructions";
import type { SolanaInstruction } from "@tributary/inbox/solana/instructions";
import { encodeKey } from "@tributary/inbox/solana/keys";
import { hexToBytes } from "@noble/hashes/utils";
import type { SignedBurn } from "../bridge/attestation.ts";
import { toMessageAccount } from "@tributary/inbox/burnMessage";
import type { RpcRequester } from "../rpc/rpcRequester.ts";
import { readAccount, readOwner } from "./inspectSolana.ts";
import type { RecoverableInbox } from "./parseSolanaInboxes.ts";
import { buildCreateTokenAccount } from "./planSolanaRecovery.ts";

// Receives on Solana what an inbox on an EVM chain burned. Anyone may send each of the transactions.

/** In the state of Circle's messenger: the wallet that gets its fees. */
const FEE_RECIPIENT = 109;

/** The inbox that a burn pays, among those that are paid out on Solana. */
export function findSolanaRecipient(
  { burn }: SignedBurn,
  inboxes: readonly RecoverableInbox[],
): RecoverableInbox | undefined {
  return inboxes.find(
    ({ inbox }) => inbox.terms.kind === "pay" && toMessageAccount(inbox.tokenAccount) === burn.recipient,
  );
}

/**
 * The calls that receive, one transaction each: a receipt leaves no room beside it. Undefined where somebody has
 * received it.
 */
export async function planReceipt(
  request: RpcRequester,
  { inbox }: RecoverableInbox,
  { signed, payer }: { signed: SignedBurn; payer: string },
): Promise<readonly (readonly SolanaInstruction[])[] | undefined> {
  const bytesOf = (hex: string) => hexToBytes(hex.slice(2));
  const proof = { message: bytesOf(signed.message), attestation: bytesOf(signed.attestation) };
  if ((await readOwner(request, deriveUsedNonce(proof.message))) === cctpTransmitter) return undefined;
  const { mint } = inbox.terms;
  const { messengerState } = deriveCctpAccounts({ mint, domain: 0, sender: mint });
  const state = await readAccount(request, messengerState);
  if (state === undefined || state.length < FEE_RECIPIENT + 32) throw new Error("the cluster lacks Circle's programs");
  const feeRecipient = encodeKey(state.slice(FEE_RECIPIENT, FEE_RECIPIENT + 32));
  const { address: owner, tokenProgram } = inbox;
  const isOpen = (await readAccount(request, inbox.tokenAccount)) !== undefined;
  const receipt = [buildReceiveMessage(proof, { payer, mint, feeRecipient })];
  return isOpen ? [receipt] : [[buildCreateTokenAccount({ payer, owner, mint, tokenProgram })], receipt];
}
