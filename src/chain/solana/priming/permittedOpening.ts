import { computeSolanaInbox } from "@tributary/inbox/solana/address";
import { deriveTokenAccount } from "@tributary/inbox/solana/derive";
import type { SolanaInstruction } from "@tributary/inbox/solana/instructions";
import { associatedTokenProgram, systemProgram } from "@tributary/inbox/solana/keys";
import type { SolanaTerms } from "@tributary/inbox/solana/terms";
import { DAY_MS } from "../../../kernel/clock.ts";
import { decodeMessage } from "../send/decodeMessage.ts";
import { assertBudget, CREATE_IDEMPOTENT, refusal, type SigningRules } from "../send/permittedMessage.ts";

// Besides settlements, the fee payer signs the creation of inboxes' token accounts. A token account's rent belongs to
// its owner, so the owner is derived from terms here: only an inbox that returns rent to the fee payer gets one.

/** So many fit into a transaction, whatever their mints. */
export const OPENINGS_MAX = 6;
/**
 * From `recoverAfter` on the recovery key may close the account and take the rent. An unused account is closed long
 * before.
 */
const RECOVERY_AHEAD_MS = 30 * DAY_MS;

export type OpeningRules = SigningRules & {
  /** The token program of each configured mint. */
  readonly tokenPrograms: ReadonlyMap<string, string>;
  /** The terms of the inbox of each creation, in their order. */
  readonly terms: readonly SolanaTerms[];
  readonly at: Date;
  /** Money for the inboxes is proven, so their accounts are worth their rent. Default false. */
  readonly isProven?: boolean;
};

/**
 * Throws an Error unless the message only creates the token accounts of the inboxes with these terms, and offers a fee.
 */
export function assertPermittedOpening(message: Uint8Array, rules: OpeningRules): void {
  const { signers, instructions } = decodeMessage(message);
  if (signers.length !== 1 || signers[0] !== rules.feePayer) throw refusal("a message that others sign too");
  const creates = instructions.filter(({ program }) => program === associatedTokenProgram);
  if (creates.length === 0 || creates.length > OPENINGS_MAX) throw refusal("no token account, or too many of them");
  creates.forEach((create, index) => assertOpens(create, rules.terms[index], rules));
  for (const instruction of instructions) {
    if (creates.includes(instruction)) continue;
    assertBudget(instruction, rules);
  }
}

function assertOpens({ accounts, data }: SolanaInstruction, terms: SolanaTerms | undefined, rules: OpeningRules) {
  const tokenProgram = rules.tokenPrograms.get(terms?.mint ?? "");
  const isWorthIt = (each: SolanaTerms) => rules.isProven === true || returnsRent(each, rules);
  if (terms === undefined || tokenProgram === undefined || !isWorthIt(terms))
    throw refusal("the creation of an account whose rent others could take");
  const inbox = computeSolanaInbox(terms, { program: rules.program, tokenProgram });
  const expected = [rules.feePayer, inbox.tokenAccount, inbox.address, terms.mint, systemProgram, tokenProgram];
  const isExpected =
    data.length === 1 &&
    data[0] === CREATE_IDEMPOTENT &&
    accounts.map(({ address }) => address).join() === expected.join();
  if (!isExpected) throw refusal("the creation of another token account than the inbox's");
}

/**
 * Whether a settlement that the fee payer signs returns the rent of the inbox's token account to it, and no other key
 * can take it before.
 */
export function returnsRent(
  terms: SolanaTerms,
  {
    feePayer,
    feeRecipient,
    tokenPrograms,
    at,
  }: Omit<OpeningRules, "terms" | "program" | "computeUnitPriceMax" | "isProven">,
): boolean {
  const { mint, rentRecipient, recovery, recoverAfter } = terms;
  const tokenProgram = tokenPrograms.get(mint);
  return (
    tokenProgram !== undefined &&
    rentRecipient === feePayer &&
    // The fee payer signs no settlement in which it is more than the receiver of rent.
    recovery !== feePayer &&
    (terms.kind === "hop" ||
      (terms.payout !== feePayer &&
        terms.feeAccount === deriveTokenAccount(feeRecipient, mint, tokenProgram).address)) &&
    recoverAfter * 1_000 >= at.getTime() + RECOVERY_AHEAD_MS
  );
}
