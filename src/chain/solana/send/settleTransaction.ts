import { computeSolanaInbox, type SolanaInbox } from "@tributary/inbox/solana/address";
import { deriveTokenAccount } from "@tributary/inbox/solana/derive";
import {
  buildSettle,
  readonlyMeta,
  writableMeta,
  writableSignerMeta,
  type SolanaInstruction,
} from "@tributary/inbox/solana/instructions";
import { associatedTokenProgram, systemProgram, tokenProgram as splTokenProgram } from "@tributary/inbox/solana/keys";
import { encodeMessage, encodeTransaction } from "@tributary/inbox/solana/message";
import { hashSolanaTerms, type SolanaTerms } from "@tributary/inbox/solana/terms";
import type { SettleItem } from "../../sender.ts";
import { budgetTags, computeBudgetProgram, CREATE_IDEMPOTENT } from "./permittedMessage.ts";

/** Any hash has the same length. */
const SOME_HASH = systemProgram;
const NO_SIGNATURE = new Uint8Array(64);

/** Equal for items that one transaction can settle. */
export function batchKey(item: SettleItem): string {
  return `${item.hub}/${tokenProgramOf(item)}/${hashSolanaTerms(solanaTerms(item))}`;
}

function tokenProgramOf({ tokenProgram = splTokenProgram }: SettleItem): string {
  return tokenProgram;
}

function solanaTerms({ inbox, terms }: SettleItem): SolanaTerms {
  if ("kind" in terms) return terms;
  throw new Error(`the terms of inbox ${inbox} are not those of a Solana inbox`);
}

/** Why no transaction of ours settles the item, or its inbox. */
export function toInbox(item: SettleItem, program: string): SolanaInbox | { refusal: string } {
  if (item.hub !== program) return { refusal: `the inbox belongs to the program ${item.hub}` };
  const inbox = computeSolanaInbox(solanaTerms(item), { program, tokenProgram: tokenProgramOf(item) });
  return inbox.address === item.inbox ? inbox : { refusal: `the terms give the inbox ${inbox.address}` };
}

/** A token account that a settlement pays to, with the wallet that owns it. */
export type Recipient = { readonly owner: string; readonly account: string };

/**
 * The token account of the payout wallet, and that of the fee where it belongs to the fee wallet. Terms decide on the
 * latter.
 */
export function recipientsOf({ terms, tokenProgram }: SolanaInbox, feeRecipient: string): Recipient[] {
  if (terms.kind !== "pay") return [];
  const of = (owner: string) => ({ owner, account: deriveTokenAccount(owner, terms.mint, tokenProgram).address });
  const [payout, fee] = [of(terms.payout), of(feeRecipient)];
  return fee.account === terms.feeAccount && fee.account !== payout.account ? [payout, fee] : [payout];
}

/**
 * Settles inboxes of equal terms. Creates the missing accounts first, and closes the inboxes' token accounts where the
 * payer may.
 */
export function settleInstructions(
  inboxes: readonly [SolanaInbox, ...SolanaInbox[]],
  { payer, missing }: { payer: string; missing: readonly Recipient[] },
): SolanaInstruction[] {
  const [{ terms, tokenProgram }] = inboxes;
  const { mint } = terms;
  const creates = missing.map((recipient) => createInstruction(payer, { ...recipient, mint, tokenProgram }));
  return [...creates, buildSettle(inboxes, { rentRecipient: terms.rentRecipient === payer })];
}

/** Creates a token account at the payer's cost, unless it exists. */
export function createInstruction(
  payer: string,
  { owner, account, mint, tokenProgram }: Recipient & { mint: string; tokenProgram: string },
): SolanaInstruction {
  const read = [owner, mint, systemProgram, tokenProgram].map(readonlyMeta);
  return {
    program: associatedTokenProgram,
    accounts: [writableSignerMeta(payer), writableMeta(account), ...read],
    data: Uint8Array.of(CREATE_IDEMPOTENT),
  };
}

/** `price`: in micro-lamports a compute unit. */
export type ComputeBudget = { readonly units: number; readonly price: bigint };

export function withBudget(budget: ComputeBudget, instructions: readonly SolanaInstruction[]): SolanaInstruction[] {
  const limit = Buffer.alloc(5);
  limit.writeUInt8(budgetTags.limit);
  limit.writeUInt32LE(budget.units, 1);
  const price = Buffer.alloc(9);
  price.writeUInt8(budgetTags.price);
  price.writeBigUInt64LE(budget.price, 1);
  const ofBudget = (data: Buffer) => ({ program: computeBudgetProgram, accounts: [], data: new Uint8Array(data) });
  return [ofBudget(limit), ofBudget(price), ...instructions];
}

/**
 * The transaction without a signature or a valid blockhash, as simulations take it. Throws a RangeError when it is too
 * long.
 */
export function unsignedTransaction(payer: string, instructions: readonly SolanaInstruction[]): Uint8Array {
  const message = encodeMessage({ feePayer: payer, blockhash: SOME_HASH, instructions });
  return encodeTransaction(message, new Map(message.signers.map((signer) => [signer, NO_SIGNATURE])));
}
