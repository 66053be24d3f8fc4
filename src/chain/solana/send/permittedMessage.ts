import { deriveTokenAccount } from "@tributary/inbox/solana/derive";
import { instructionTags, type SolanaInstruction } from "@tributary/inbox/solana/instructions";
import { associatedTokenProgram, systemProgram } from "@tributary/inbox/solana/keys";
import { decodeMessage } from "./decodeMessage.ts";

// The fee payer's key pays fees and the rent of token accounts, and nothing else. What else than settlements it signs
// is in permittedOpening.ts. Each message is decoded and compared with a short list before it is signed, so that no
// caller can make the key sign a transfer, not even by a message that it built itself.

export const computeBudgetProgram = "ComputeBudget111111111111111111111111111111";
export const COMPUTE_UNITS_MAX = 1_400_000;
export const budgetTags = { limit: 2, price: 3 } as const;

/** The last byte of the instruction that creates a token account unless it exists. */
export const CREATE_IDEMPOTENT = 1;
const CREATE_ACCOUNTS = 6;
/** Of payout wallet and fee wallet. */
const CREATES_MAX = 2;
const KIND_PAY = 0;
/** Places in the accounts of a settlement. */
const [MINT, TOKEN_PROGRAM, PAYOUT, RENT_RECIPIENT, SETTLE_FIRST] = [0, 1, 2, 4, 6];

export type SigningRules = {
  readonly feePayer: string;
  /** The inbox program. */
  readonly program: string;
  /** The wallet whose token accounts receive the fees. */
  readonly feeRecipient: string;
  /** In micro-lamports. */
  readonly computeUnitPriceMax: bigint;
};

/** Throws an Error that names the first instruction that the fee payer never signs. */
export function assertPermitted(message: Uint8Array, rules: SigningRules): void {
  const { signers, instructions } = decodeMessage(message);
  if (signers.length !== 1 || signers[0] !== rules.feePayer) throw refusal("a message that others sign too");
  const settles = instructions.filter(({ program }) => program === rules.program);
  const [settle] = settles;
  if (settle === undefined || settles.length > 1) throw refusal("a message without exactly one settlement");
  assertSettle(settle, rules);
  const creates = instructions.filter(({ program }) => program === associatedTokenProgram);
  if (creates.length > CREATES_MAX) throw refusal("more token accounts than a settlement needs");
  for (const create of creates) assertCreate(create, settle, rules);
  for (const instruction of instructions) {
    if (settles.includes(instruction) || creates.includes(instruction)) continue;
    assertBudget(instruction, rules);
  }
}

/** The payer is only the receiver of rent: as payout wallet its signature would let the caller name another account. */
function assertSettle({ accounts, data }: SolanaInstruction, { feePayer }: SigningRules): void {
  if (data[0] !== instructionTags.settle || data[1] !== KIND_PAY || accounts.length < SETTLE_FIRST)
    throw refusal("an instruction of the inbox program that is no settlement");
  if (accounts.some(({ address }, place) => address === feePayer && place !== RENT_RECIPIENT))
    throw refusal("a settlement in which the payer is more than the receiver of rent");
}

function assertCreate(
  { accounts, data }: SolanaInstruction,
  settle: SolanaInstruction,
  { feePayer, feeRecipient }: SigningRules,
): void {
  const keyOf = (place: number) => settle.accounts[place]?.address ?? "";
  const [mint, tokenProgram] = [keyOf(MINT), keyOf(TOKEN_PROGRAM)];
  const [funder, account, owner, ...others] = accounts.map(({ address }) => address);
  const isExpected =
    data.length === 1 &&
    data[0] === CREATE_IDEMPOTENT &&
    accounts.length === CREATE_ACCOUNTS &&
    funder === feePayer &&
    owner !== undefined &&
    (owner === keyOf(PAYOUT) || owner === feeRecipient) &&
    account === deriveTokenAccount(owner, mint, tokenProgram).address &&
    others.join() === [mint, systemProgram, tokenProgram].join();
  if (!isExpected) throw refusal("the creation of another token account than the payout's or the fee's");
}

/** Throws an Error for every other instruction than a limit or a price within the ceiling. */
export function assertBudget(
  { program, accounts, data }: SolanaInstruction,
  { computeUnitPriceMax }: SigningRules,
): void {
  if (program !== computeBudgetProgram) throw refusal(`an instruction of ${program}`);
  const bytes = Buffer.from(data);
  const isLimit = data[0] === budgetTags.limit && data.length === 5 && bytes.readUInt32LE(1) <= COMPUTE_UNITS_MAX;
  const isPrice = data[0] === budgetTags.price && data.length === 9 && bytes.readBigUInt64LE(1) <= computeUnitPriceMax;
  if (accounts.length > 0 || !(isLimit || isPrice)) throw refusal("a fee above the ceiling");
}

export function refusal(what: string): Error {
  return new Error(`the fee payer does not sign ${what}`);
}
