import { cctpTransmitter } from "@tributary/inbox/solana/cctp";
import { buildReceiveMessage, type AttestedCctpMessage } from "@tributary/inbox/solana/cctpInstructions";
import type { SolanaInstruction } from "@tributary/inbox/solana/instructions";
import { encodeKey } from "@tributary/inbox/solana/keys";
import { decodeMessage } from "../send/decodeMessage.ts";
import { assertBudget, refusal, type SigningRules } from "../send/permittedMessage.ts";

// Besides settlements, the fee payer signs receipts by Circle's transmitter: it pays for the account of the message's
// number. The transmitter passes the accounts behind its own on to the program that the message names, so the
// instruction is built anew from the message and compared: the payer is nowhere but where the transmitter needs it.

export type ReceiptRules = SigningRules & {
  readonly signed: AttestedCctpMessage;
  readonly mint: string;
  /** The token account of the inbox. */
  readonly recipient: string;
  /** The wallet that gets the bridge's fees, as its state names it. */
  readonly bridgeFeeRecipient: string;
};

/** Place of the token account that receives, in the accounts of a receipt. */
const RECIPIENT = 15;
/** In the message: the program that handles it. */
const [HANDLER, HANDLER_PLACE] = [76, 5];

/** Throws an Error unless the message only receives this burn for this inbox, and offers a fee. */
export function assertPermittedReceipt(message: Uint8Array, rules: ReceiptRules): void {
  const { feePayer, signed, mint, recipient, bridgeFeeRecipient } = rules;
  const { signers, instructions } = decodeMessage(message);
  if (signers.join() !== feePayer) throw refusal("a message that others sign too");
  const receipts = instructions.filter(({ program }) => program === cctpTransmitter);
  const [receipt] = receipts;
  if (receipt === undefined || receipts.length > 1) throw refusal("a message without exactly one receipt");
  const expected = buildReceiveMessage(signed, { payer: feePayer, mint, feeRecipient: bridgeFeeRecipient });
  if (expected.accounts[RECIPIENT]?.address !== recipient)
    throw refusal("a receipt for another account than the inbox's");
  if (!isHandledBy(expected.accounts[HANDLER_PLACE]?.address, signed))
    throw refusal("a receipt of a message for another program");
  if (!isSame(receipt, expected)) throw refusal("another receipt than that of the message");
  for (const instruction of instructions) if (instruction !== receipt) assertBudget(instruction, rules);
}

function isHandledBy(program: string | undefined, { message }: AttestedCctpMessage): boolean {
  return program !== undefined && program === encodeKey(message.slice(HANDLER, HANDLER + 32));
}

function isSame(one: SolanaInstruction, other: SolanaInstruction): boolean {
  const keysOf = ({ accounts }: SolanaInstruction) => accounts.map(({ address }) => address).join();
  return keysOf(one) === keysOf(other) && Buffer.compare(one.data, other.data) === 0;
}
