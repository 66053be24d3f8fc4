import assert from "node:assert/strict";
import { test } from "node:test";
import { computeSolanaInbox } from "@tributary/inbox/solana/address";
import { decodeBase58, encodeBase58 } from "@tributary/inbox/solana/base58";
import {
  buildReclaim,
  buildSettle,
  readonlyMeta,
  signerMeta,
  type SolanaInstruction,
} from "@tributary/inbox/solana/instructions";
import { decodeKey, noKey, token2022Program, tokenProgram } from "@tributary/inbox/solana/keys";
import type { SolanaPayTerms } from "@tributary/inbox/solana/terms";
import { LOCAL_INBOX_PROGRAM, LOCAL_MINTS, SOLANA_ACCOUNTS } from "../../../../packages/local-solana/src/fixtures.ts";
import {
  createTokenAccount,
  findTokenAccount,
  sendLamports,
} from "../../../../packages/local-solana/src/instructions.ts";
import { openFeePayer } from "../send/feePayer.ts";
import { withBudget } from "../send/settleTransaction.ts";

// What a thief who controls every row of the database gets out of the key that creates token accounts: rent that only
// the fee payer gets back.

const { operator, feeRecipient, stranger, payoutFirst, recoveryFirst } = SOLANA_ACCOUNTS;
const payer = operator.address;
const mint = LOCAL_MINTS.USDC.address;
const { EURC, DUSD } = LOCAL_MINTS;
const feePayer = openFeePayer(encodeBase58(Uint8Array.from([...operator.seed, ...decodeKey("payer", payer)])));
const at = new Date("2026-11-23T00:00:00Z");
const DAY_S = 86_400;
const BUDGET = { units: 100_000, price: 1_000n };

const rules = {
  program: LOCAL_INBOX_PROGRAM,
  feeRecipient: feeRecipient.address,
  computeUnitPriceMax: 1_000n,
  tokenPrograms: new Map([
    [mint, tokenProgram],
    [DUSD.address, token2022Program],
  ]),
  at,
};

const termsOf = (change: Partial<SolanaPayTerms> = {}): SolanaPayTerms => ({
  kind: "pay",
  salt: `0x${"11".repeat(32)}`,
  mint,
  payout: payoutFirst.address,
  feeAccount: findTokenAccount({ owner: feeRecipient.address, mint }),
  feeBps: 50,
  rentRecipient: payer,
  recovery: recoveryFirst.address,
  recoverAfter: at.getTime() / 1_000 + 180 * DAY_S,
  ...change,
});
const inboxOf = (terms: SolanaPayTerms, program = tokenProgram) =>
  computeSolanaInbox(terms, { program: LOCAL_INBOX_PROGRAM, tokenProgram: program });
/** The creation that these terms ask for. */
const opening = (terms: SolanaPayTerms, program = tokenProgram) =>
  createTokenAccount(payer, { owner: inboxOf(terms, program).address, mint: terms.mint, program });

const sign = (instructions: readonly SolanaInstruction[], terms: readonly SolanaPayTerms[]) =>
  feePayer.signOpening({ blockhash: noKey, instructions }, { ...rules, terms });
const change = (instruction: SolanaInstruction, edit: Partial<SolanaInstruction>) => ({ ...instruction, ...edit });
const replaceAccount = (instruction: SolanaInstruction, place: number, address: string) =>
  change(instruction, {
    accounts: instruction.accounts.map((meta, index) => (index === place ? { ...meta, address } : meta)),
  });

const own = termsOf();
const other = termsOf({ salt: `0x${"22".repeat(32)}` });
const create = opening(own);

test("the accounts of six inboxes with their budget are signed", () => {
  const terms = Array.from({ length: 6 }, (_, index) => termsOf({ salt: `0x${`0${index}`.repeat(32)}` }));
  const { raw, chainTx } = sign(
    withBudget(
      BUDGET,
      terms.map((each) => opening(each)),
    ),
    terms,
  );
  assert.deepEqual(Buffer.from(raw, "base64").subarray(1, 65), Buffer.from(decodeBase58(chainTx) ?? []));
});

test("the account of a configured mint of Token-2022 is signed", () => {
  const feeAccount = findTokenAccount({ owner: feeRecipient.address, mint: DUSD.address, program: token2022Program });
  const terms = termsOf({ mint: DUSD.address, feeAccount });
  assert.ok(sign([opening(terms, token2022Program)], [terms]).raw);
});

/** Messages beside the permitted one. */
const MESSAGES: Readonly<Record<string, readonly SolanaInstruction[]>> = {
  nothing: [],
  "only a budget": withBudget(BUDGET, []),
  "an account of a stranger": [createTokenAccount(payer, { owner: stranger.address, mint })],
  "an account of the payout wallet": [createTokenAccount(payer, { owner: own.payout, mint })],
  "an account of another inbox": [opening(other)],
  "an account of another mint": [createTokenAccount(payer, { owner: inboxOf(own).address, mint: EURC.address })],
  "an account of another token program": [replaceAccount(create, 5, token2022Program)],
  "an account at another address": [replaceAccount(create, 1, findTokenAccount({ owner: stranger.address, mint }))],
  "an account that another key funds": [replaceAccount(create, 0, stranger.address)],
  "an instruction with one more account": [change(create, { accounts: [...create.accounts, readonlyMeta(payer)] })],
  "a recovery of a nested account": [change(create, { data: Uint8Array.of(2) })],
  "a creation that fails when the account exists": [change(create, { data: Uint8Array.of(0) })],
  "two creations for one inbox": [create, create],
  "a settlement": [buildSettle([inboxOf(own)], { rentRecipient: true })],
  "a settlement beside": [create, buildSettle([inboxOf(own)], { rentRecipient: true })],
  "a reclaim": [buildReclaim(inboxOf(own))],
  "a reclaim beside": [create, buildReclaim(inboxOf(own))],
  "lamports for the inbox": [sendLamports(payer, inboxOf(own).address, 890_880n)],
  "lamports for the inbox beside": [create, sendLamports(payer, inboxOf(own).address, 890_880n)],
  "a message that a stranger signs too": [
    change(create, { accounts: [...create.accounts.slice(0, 5), signerMeta(stranger.address)] }),
  ],
  "an unknown program": [create, { program: stranger.address, accounts: [], data: Uint8Array.of() }],
  "a price above the ceiling": withBudget({ ...BUDGET, price: 1_001n }, [create]),
};

for (const [name, instructions] of Object.entries(MESSAGES))
  test(`the fee payer does not sign ${name}`, () => {
    assert.throws(() => sign(instructions, [own]), { message: /^the fee payer does not sign / });
  });

/** Terms whose inbox gives the rent to others, or never back. */
const TERMS: Readonly<Record<string, SolanaPayTerms>> = {
  "another rent recipient": termsOf({ rentRecipient: stranger.address }),
  "a recovery key that may soon close it": termsOf({ recoverAfter: at.getTime() / 1_000 + 30 * DAY_S - 1 }),
  "a recovery key that may close it now": termsOf({ recoverAfter: 0 }),
  "a mint that is not configured": termsOf({
    mint: EURC.address,
    feeAccount: findTokenAccount({ owner: feeRecipient.address, mint: EURC.address }),
  }),
  "another fee account": termsOf({ feeAccount: stranger.address }),
  "the fee payer as payout wallet": termsOf({ payout: payer }),
  "the fee payer as recovery key": termsOf({ recovery: payer }),
};

for (const [name, terms] of Object.entries(TERMS))
  test(`the fee payer signs no account of an inbox with ${name}`, () => {
    assert.throws(() => sign([opening(terms)], [terms]), { message: /^the fee payer does not sign / });
  });

test("the fee payer signs no account of an inbox whose terms exceed what the program settles, nor seven at once", () => {
  assert.throws(() => sign([create], [termsOf({ feeBps: 1_001 })]), RangeError);
  const terms = Array.from({ length: 7 }, (_, index) => termsOf({ salt: `0x${`0${index}`.repeat(32)}` }));
  assert.throws(
    () =>
      sign(
        terms.map((each) => opening(each)),
        terms,
      ),
    { message: /^the fee payer does not sign / },
  );
});

test("a settlement's signature creates no account of an inbox", () => {
  const settle = buildSettle([inboxOf(own)], { rentRecipient: true });
  const message = { blockhash: noKey, instructions: [create, settle] };
  assert.throws(() => feePayer.sign(message, rules), { message: /^the fee payer does not sign the creation/ });
});
