import { cctpTransmitter } from "@tributary/inbox/solana/cctp";
import { buildReclaimEvent, type AttestedCctpMessage } from "@tributary/inbox/solana/cctpInstructions";
import { decodeMessage } from "../send/decodeMessage.ts";
import { assertBudget, refusal, type SigningRules } from "../send/permittedMessage.ts";

// Besides settlements, the fee payer signs the return of the rent of its burns' messages.

export type ReclaimRules = SigningRules & { readonly signed: AttestedCctpMessage; readonly event: string };

/** Throws an Error unless the message only returns the rent of one burn's message, and offers a fee. */
export function assertPermittedReclaim(message: Uint8Array, rules: ReclaimRules): void {
  const { signers, instructions } = decodeMessage(message);
  if (signers.join() !== rules.feePayer) throw refusal("a message that others sign too");
  const [reclaim, ...more] = instructions.filter(({ program }) => program === cctpTransmitter);
  if (reclaim === undefined || more.length > 0) throw refusal("a message without exactly one return of rent");
  const expected = buildReclaimEvent(rules.signed, { payer: rules.feePayer, event: rules.event });
  const keysOf = ({ accounts }: typeof expected) => accounts.map(({ address }) => address).join();
  const isExpected = keysOf(reclaim) === keysOf(expected) && Buffer.compare(reclaim.data, expected.data) === 0;
  if (!isExpected) throw refusal("another return of rent than that of the burn");
  for (const instruction of instructions) if (instruction !== reclaim) assertBudget(instruction, rules);
}
