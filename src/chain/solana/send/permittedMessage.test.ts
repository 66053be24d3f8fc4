import assert from "node:assert/strict";
import { test } from "node:test";
import { decodeBase58, encodeBase58 } from "@tributary/inbox/solana/base58";
import { computeSolanaInbox } from "@tributary/inbox/solana/address";
import {
  buildReclaim,
  buildSettle,
  readonlyMeta,
  signerMeta,
  writableMeta,
  writableSignerMeta,
  type SolanaInstruction,
} from "@tributary/inbox/solana/instructions";
import { decodeKey, noKey, tokenProgram } from "@tributary/inbox/solana/keys";
import { LOCAL_INBOX_PROGRAM, LOCAL_MINTS, SOLANA_ACCOUNTS } from "../../../../packages/local-solana/src/fixtures.ts";
import {
  createTokenAccount,
  findTokenAccount,
  sendLamports,
  transferTokens,
} from "../../../../packages/local-solana/src/instructions.ts";
import { openFeePayer } from "./feePayer.ts";
import { settleInstructions, withBudget } from "./settleTransaction.ts";

// What a thief who can make the service sign anything gets out of the fee payer's key: only settlements.

const { operator, feeRecipient, stranger, payoutFirst, recoveryFirst } = SOLANA_ACCOUNTS;
const payer = operator.address;
const mint = LOCAL_MINTS.USDC.address;
const feePayer = openFeePayer(encodeBase58(Uint8Array.from([...operator.seed, ...decodeKey("payer", payer)])));
const rules = { program: LOCAL_INBOX_PROGRAM, feeRecipient: feeRecipient.address, computeUnitPriceMax: 1_000n };
const BUDGET = { units: 100_000, price: 1_000n };

const inboxOf = (payout: string) =>
  computeSolanaInbox(
    {
      kind: "pay",
      salt: `0x${"11".repeat(32)}`,
      mint,
      payout,
      feeAccount: findTokenAccount({ owner: feeRecipient.address, mint }),
      feeBps: 50,
      rentRecipient: payer,
      recovery: recoveryFirst.address,
      recoverAfter: 1_900_000_000,
    },
    { program: LOCAL_INBOX_PROGRAM, tokenProgram },
  );
const inbox = inboxOf(payoutFirst.address);
const settle = buildSettle([inbox], { rentRecipient: true });
const recipient = (owner: string) => ({ owner, account: findTokenAccount({ owner, mint }) });
const missing = [recipient(payoutFirst.address), recipient(feeRecipient.address)];

const sign = (instructions: readonly SolanaInstruction[]) => feePayer.sign({ blockhash: noKey, instructions }, rules);
const change = (instruction: SolanaInstruction, edit: Partial<SolanaInstruction>) => ({ ...instruction, ...edit });
const withData = (instruction: SolanaInstruction, at: number, byte: number) =>
  change(instruction, { data: instruction.data.map((each, index) => (index === at ? byte : each)) });
const replaceAccount = (instruction: SolanaInstruction, place: number, address: string) =>
  change(instruction, {
    accounts: instruction.accounts.map((meta, index) => (index === place ? { ...meta, address } : meta)),
  });

test("a settlement with its budget and both token accounts is signed", () => {
  const instructions = withBudget(BUDGET, settleInstructions([inbox], { payer, missing }));
  assert.equal(instructions.length, 5);
  const { raw, chainTx } = sign(instructions);
  assert.equal(decodeBase58(chainTx)?.length, 64);
  assert.deepEqual(Buffer.from(raw, "base64").subarray(1, 65), Buffer.from(decodeBase58(chainTx) ?? []));
});

const create = createTokenAccount(payer, { owner: payoutFirst.address, mint });
const REFUSED: Readonly<Record<string, readonly SolanaInstruction[]>> = {
  nothing: [],
  "only a budget": withBudget(BUDGET, []),
  "a transfer of lamports": [settle, sendLamports(payer, stranger.address, 1n)],
  "a transfer of lamports alone": [sendLamports(payer, stranger.address, 1n)],
  "a transfer of tokens": [
    settle,
    transferTokens({
      from: findTokenAccount({ owner: payer, mint }),
      to: stranger.address,
      owner: payer,
      mint,
      units: 1n,
    }),
  ],
  "an approval of a delegate": [
    settle,
    {
      program: tokenProgram,
      accounts: [
        writableMeta(findTokenAccount({ owner: payer, mint })),
        readonlyMeta(stranger.address),
        signerMeta(payer),
      ],
      data: Uint8Array.of(4, 1, 0, 0, 0, 0, 0, 0, 0),
    },
  ],
  "an unknown program": [
    settle,
    { program: stranger.address, accounts: [writableSignerMeta(payer)], data: Uint8Array.of() },
  ],
  "a reclaim": [settle, buildReclaim(inbox)],
  "a reclaim alone": [buildReclaim(inbox)],
  "two settlements": [settle, settle],
  "a settlement of another program": [change(settle, { program: stranger.address })],
  "a settlement of kind hop": [withData(settle, 1, 1)],
  "a bridge": [withData(settle, 0, 1)],
  "a settlement of which the payer is the payout wallet": [buildSettle([inboxOf(payer)], { rentRecipient: true })],
  "a settlement of which the payer is the recovery key": [replaceAccount(settle, 5, payer)],
  "a settlement of which the payer is an inbox": [replaceAccount(settle, 8, payer)],
  "a message that a stranger signs too": [
    settle,
    { program: LOCAL_INBOX_PROGRAM, accounts: [signerMeta(stranger.address)], data: Uint8Array.of() },
  ],
  "a settlement that a stranger signs": [
    change(settle, { accounts: [...settle.accounts, signerMeta(stranger.address)] }),
  ],
  "an account of a stranger": [settle, createTokenAccount(payer, { owner: stranger.address, mint })],
  "an account of another mint": [
    settle,
    createTokenAccount(payer, { owner: payoutFirst.address, mint: LOCAL_MINTS.EURC.address }),
  ],
  "an account at another address": [settle, replaceAccount(create, 1, stranger.address)],
  "an account that a stranger funds": [
    settle,
    createTokenAccount(stranger.address, { owner: payoutFirst.address, mint }),
  ],
  "a recovery of a nested account": [settle, change(create, { data: Uint8Array.of(2) })],
  "a creation that fails when the account exists": [settle, change(create, { data: Uint8Array.of(0) })],
  "a creation with more accounts": [settle, change(create, { accounts: [...create.accounts, readonlyMeta(payer)] })],
  "three creations": [settle, create, create, create],
  "a price above the ceiling": withBudget({ ...BUDGET, price: 1_001n }, [settle]),
  "a limit above the highest": withBudget({ ...BUDGET, units: 1_400_001 }, [settle]),
  "a budget of an unknown kind": withBudget(BUDGET, [settle]).map((each, index) =>
    index === 0 ? withData(each, 0, 1) : each,
  ),
};

for (const [name, instructions] of Object.entries(REFUSED))
  test(`the fee payer does not sign ${name}`, () => {
    assert.throws(() => sign(instructions), { message: /^the fee payer does not sign / });
  });

test("a fee payer's key pair is 64 bytes in base58", () => {
  assert.equal(feePayer.address, payer);
  for (const key of ["", "0".repeat(88), encodeBase58(operator.seed), encodeBase58(new Uint8Array(65).fill(7))])
    assert.throws(() => openFeePayer(key), { message: /64 bytes in base58/ });
});
