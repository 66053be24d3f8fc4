import assert from "node:assert/strict";
import { test } from "node:test";
import { computeSolanaInbox } from "@tributary/inbox/solana/address";
import { encodeBase58 } from "@tributary/inbox/solana/base58";
import { cctpMessenger, deriveCctpAccounts } from "@tributary/inbox/solana/cctp";
import {
  buildBridge,
  writableMeta,
  writableSignerMeta,
  type SolanaInstruction,
} from "@tributary/inbox/solana/instructions";
import { systemProgram, tokenProgram } from "@tributary/inbox/solana/keys";
import { LOCAL_INBOX_PROGRAM, LOCAL_MINTS, SOLANA_ACCOUNTS } from "../../../../packages/local-solana/src/fixtures.ts";
import { withBudget } from "../send/settleTransaction.ts";
import { openEventKey, openFeePayer } from "../send/feePayer.ts";

// The fee payer's key burns one inbox by Circle's messenger, or closes it, and signs nothing else on that way.

const { operator, stranger, feeRecipient } = SOLANA_ACCOUNTS;
const payer = openFeePayer(encodeBase58(Uint8Array.from([...operator.seed, ...operator.publicKey])));
const event = openEventKey(new Uint8Array(32).fill(7));
const mint = LOCAL_MINTS.USDC.address;
const rules = { program: LOCAL_INBOX_PROGRAM, feeRecipient: feeRecipient.address, computeUnitPriceMax: 1_000n };
const terms = {
  kind: "hop",
  salt: `0x${"5a".repeat(32)}`,
  mint,
  mintRecipient: `0x${"00".repeat(12)}${"ab".repeat(20)}`,
  messenger: cctpMessenger,
  minAmount: 2n,
  domain: 6,
  routes: [
    { feePpmMax: 3_000, finalityThreshold: 1_000 },
    { feePpmMax: 1_000, finalityThreshold: 2_000 },
  ],
  rentRecipient: operator.address,
  recovery: stranger.address,
  recoverAfter: 1_900_000_000,
} as const;
const inbox = computeSolanaInbox(terms, { program: LOCAL_INBOX_PROGRAM, tokenProgram });
const cctp = deriveCctpAccounts({ mint, domain: 6, sender: inbox.address });
const burn = buildBridge(inbox, { cctp, payer: payer.address, event: event.address, route: 0, rentRecipient: true });
const budget = { units: 60_000, price: 1_000n };

function sign(instructions: readonly SolanaInstruction[], by = event) {
  return payer.signBurn({ blockhash: systemProgram, instructions: withBudget(budget, instructions) }, rules, by);
}

const withAccount = (place: number, meta: SolanaInstruction["accounts"][number]): SolanaInstruction => ({
  ...burn,
  accounts: burn.accounts.map((each, at) => (at === place ? meta : each)),
});
const withByte = (place: number, value: number): SolanaInstruction => ({
  ...burn,
  data: burn.data.map((each, at) => (at === place ? value : each)),
});
const transfer: SolanaInstruction = {
  program: systemProgram,
  accounts: [writableSignerMeta(payer.address), writableMeta(stranger.address)],
  data: Uint8Array.of(2, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0),
};

test("a burn of one inbox is signed, by the fee payer and the message's key", () => {
  assert.match(sign([burn]).chainTx, /^\w{64,88}$/);
});

const REFUSED: readonly (readonly [what: string, instructions: readonly SolanaInstruction[], reason: RegExp])[] = [
  ["a message without a burn", [], /others sign too/],
  ["two burns", [burn, burn], /without exactly one burn/],
  ["a transfer beside it", [burn, transfer], /an instruction of 1111/],
  ["a settlement", [withByte(0, 0)], /that is no burn/],
  ["a rescue", [withByte(0, 2)], /that is no burn/],
  ["the kind that pays out here", [withByte(1, 0)], /that is no burn/],
  ["a further account", [{ ...burn, accounts: [...burn.accounts, writableMeta(stranger.address)] }], /that is no burn/],
  ["another messenger", [withAccount(3, writableMeta(stranger.address))], /another messenger/],
  ["the payer as recovery key", [withAccount(5, writableSignerMeta(payer.address))], /the payer is more/],
  ["the payer as transmitter's state", [withAccount(11, writableMeta(payer.address))], /the payer is more/],
  ["the message's key elsewhere", [withAccount(11, writableMeta(event.address))], /the message's account is a part/],
  ["another signer", [withAccount(5, writableSignerMeta(stranger.address))], /others sign too/],
];
for (const [what, instructions, reason] of REFUSED)
  test(`never signed: ${what}`, () => {
    assert.throws(() => sign(instructions), reason);
  });

test("a fee above the ceiling is not signed, nor a burn without the message's signature", () => {
  const dear = withBudget({ ...budget, price: 1_001n }, [burn]);
  const unsigned = { blockhash: systemProgram, instructions: dear };
  assert.throws(() => payer.signBurn(unsigned, rules, event), /a fee above the ceiling/);
  const cheap = { blockhash: systemProgram, instructions: withBudget(budget, [burn]) };
  assert.throws(() => payer.signClose(cheap, rules), /others sign too/);
});
