import { cctpMessenger } from "@tributary/inbox/solana/cctp";
import { instructionTags, type SolanaInstruction } from "@tributary/inbox/solana/instructions";
import { decodeMessage } from "../send/decodeMessage.ts";
import { assertBudget, refusal, type SigningRules } from "../send/permittedMessage.ts";

// Besides settlements, the fee payer signs burns of inboxes by Circle's programs. It pays for the account of the
// message, so its signature reaches the messenger: no other messenger gets it, and no account beyond those that a burn
// needs. Without a message, the same instruction closes an inbox that is empty.

const KIND_HOP = 1;
/** Places in the accounts of a burn. */
const [AGENT, RENT_RECIPIENT, EVENT_PAYER, EVENT] = [3, 4, 8, 16];
const BRIDGE_ACCOUNTS = 20;

/** `event`: the key of the account that holds the message; undefined where none is made. */
export type BurnRules = SigningRules & { readonly event: string | undefined };

/** Throws an Error unless the message only burns or closes one inbox, and offers a fee. */
export function assertPermittedBurn(message: Uint8Array, rules: BurnRules): void {
  const { feePayer, event, program } = rules;
  const { signers, instructions } = decodeMessage(message);
  if (signers.join() !== [feePayer, ...(event === undefined ? [] : [event])].join())
    throw refusal("a message that others sign too");
  const burns = instructions.filter((instruction) => instruction.program === program);
  const [burn] = burns;
  if (burn === undefined || burns.length > 1) throw refusal("a message without exactly one burn");
  assertBurn(burn, rules);
  for (const instruction of instructions) if (instruction !== burn) assertBudget(instruction, rules);
}

function assertBurn({ accounts, data }: SolanaInstruction, { feePayer, event }: BurnRules): void {
  const isBurn = data[0] === instructionTags.bridge && data[1] === KIND_HOP && accounts.length === BRIDGE_ACCOUNTS;
  if (!isBurn) throw refusal("an instruction of the inbox program that is no burn");
  if (accounts[AGENT]?.address !== cctpMessenger) throw refusal("a burn by another messenger than Circle's");
  const isAt = (key: string, places: readonly number[]) =>
    accounts.every(({ address }, place) => address !== key || places.includes(place));
  if (!isAt(feePayer, event === undefined ? [RENT_RECIPIENT] : [RENT_RECIPIENT, EVENT_PAYER]))
    throw refusal("a burn in which the payer is more than the payer of the message");
  if (event !== undefined && !isAt(event, [EVENT])) throw refusal("a burn of which the message's account is a part");
}
