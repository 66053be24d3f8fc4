import assert from "node:assert/strict";
import { test } from "node:test";
import { computeSolanaInbox } from "@tributary/inbox/solana/address";
import { encodeBase58 } from "@tributary/inbox/solana/base58";
import { cctpMessenger } from "@tributary/inbox/solana/cctp";
import { buildReceiveMessage } from "@tributary/inbox/solana/cctpInstructions";
import { writableMeta, writableSignerMeta, type SolanaInstruction } from "@tributary/inbox/solana/instructions";
import { decodeKey, systemProgram, tokenProgram } from "@tributary/inbox/solana/keys";
import { LOCAL_INBOX_PROGRAM, LOCAL_MINTS, SOLANA_ACCOUNTS } from "../../../../packages/local-solana/src/fixtures.ts";
import { withBudget } from "../send/settleTransaction.ts";
import { openFeePayer } from "../send/feePayer.ts";

// The fee payer's key receives one burn for one inbox by Circle's transmitter, and signs nothing else on that way.

const { operator, stranger, feeRecipient } = SOLANA_ACCOUNTS;
const payer = openFeePayer(encodeBase58(Uint8Array.from([...operator.seed, ...operator.publicKey])));
const mint = LOCAL_MINTS.USDC.address;
const terms = {
  kind: "pay",
  salt: `0x${"5a".repeat(32)}`,
  mint,
  payout: stranger.address,
  feeAccount: feeRecipient.address,
  feeBps: 50,
  rentRecipient: operator.address,
  recovery: stranger.address,
  recoverAfter: 1_900_000_000,
} as const;
const { tokenAccount: recipient } = computeSolanaInbox(terms, { program: LOCAL_INBOX_PROGRAM, tokenProgram });
const [HANDLER, SOURCE, RECIPIENT, BYTES] = [76, 4, 184, 376];

function burnFor(account: string, handler = cctpMessenger) {
  const message = new Uint8Array(BYTES);
  message[SOURCE + 3] = 6;
  message.set(decodeKey("handler", handler), HANDLER);
  message.set(decodeKey("recipient", account), RECIPIENT);
  return { message, attestation: new Uint8Array(65) };
}

const signed = burnFor(recipient);
const bridgeFeeRecipient = feeRecipient.address;
const rules = {
  program: LOCAL_INBOX_PROGRAM,
  feeRecipient: feeRecipient.address,
  computeUnitPriceMax: 1_000n,
  signed,
  mint,
  recipient,
  bridgeFeeRecipient,
};
const receiptOf = (of: typeof signed) =>
  buildReceiveMessage(of, { payer: payer.address, mint, feeRecipient: bridgeFeeRecipient });
const receipt = receiptOf(signed);
const budget = { units: 200_000, price: 1_000n };

const sign = (instructions: readonly SolanaInstruction[], changed: Partial<typeof rules> = {}) =>
  payer.signReceipt(
    { blockhash: systemProgram, instructions: withBudget(budget, instructions) },
    { ...rules, ...changed },
  );

test("a receipt of one burn is signed, with a price and without", () => {
  assert.match(sign([receipt]).chainTx, /^\w{64,88}$/);
  assert.match(payer.signReceipt({ blockhash: systemProgram, instructions: [receipt] }, rules).chainTx, /^\w{64,88}$/);
});

const withAccount = (place: number, meta: SolanaInstruction["accounts"][number]): SolanaInstruction => ({
  ...receipt,
  accounts: receipt.accounts.map((each, at) => (at === place ? meta : each)),
});
const transfer: SolanaInstruction = {
  program: systemProgram,
  accounts: [writableSignerMeta(payer.address), writableMeta(stranger.address)],
  data: Uint8Array.of(2, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0),
};
const other = burnFor(stranger.address);
const ofThief = burnFor(recipient, stranger.address);

const REFUSED: readonly (readonly [
  what: string,
  instructions: readonly SolanaInstruction[],
  reason: RegExp,
  changed?: Partial<typeof rules>,
])[] = [
  ["a message without a receipt", [], /without exactly one receipt/],
  ["two receipts", [receipt, receipt], /without exactly one receipt/],
  ["a transfer beside it", [receipt, transfer], /an instruction of 1111/],
  ["a receipt for another account", [receiptOf(other)], /another account than the inbox's/, { signed: other }],
  ["a message for a thief's program", [receiptOf(ofThief)], /a message for another program/, { signed: ofThief }],
  ["another message than the one that was proven", [receiptOf(other)], /another receipt/],
  ["another receiving program", [withAccount(5, writableMeta(stranger.address))], /another receipt/],
  ["another recipient", [withAccount(15, writableMeta(stranger.address))], /another receipt/],
  ["another account of the bridge's fee", [withAccount(14, writableMeta(stranger.address))], /another receipt/],
  ["another signer", [withAccount(15, writableSignerMeta(stranger.address))], /others sign too/],
  [
    "a further account",
    [{ ...receipt, accounts: [...receipt.accounts, writableMeta(stranger.address)] }],
    /another receipt/,
  ],
  [
    "the payer behind the transmitter's own accounts",
    [{ ...receipt, accounts: [...receipt.accounts, writableSignerMeta(payer.address)] }],
    /another receipt/,
  ],
  ["data behind the signatures", [{ ...receipt, data: Uint8Array.from([...receipt.data, 0]) }], /another receipt/],
];
for (const [what, instructions, reason, changed] of REFUSED)
  test(`never signed: ${what}`, () => {
    assert.throws(() => sign(instructions, changed), reason);
  });

test("a fee above the ceiling is not signed", () => {
  const dear = withBudget({ ...budget, price: 1_001n }, [receipt]);
  assert.throws(
    () => payer.signReceipt({ blockhash: systemProgram, instructions: dear }, rules),
    /a fee above the ceiling/,
  );
});
