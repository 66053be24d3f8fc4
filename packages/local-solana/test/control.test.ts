import assert from "node:assert/strict";
import { test } from "node:test";
import {
  address,
  airdropFactory,
  createSolanaRpc,
  createSolanaRpcSubscriptions,
  getBase64EncodedWireTransaction,
  getBase64Encoder,
  getTransactionDecoder,
  lamports,
} from "@solana/kit";
import { computeSolanaInbox } from "@tributary/inbox/solana/address";
import { deriveAddress } from "@tributary/inbox/solana/derive";
import { buildSettle, signerMeta, writableMeta, writableSignerMeta } from "@tributary/inbox/solana/instructions";
import type { SolanaInstruction } from "@tributary/inbox/solana/instructions";
import { decodeKey, systemProgram } from "@tributary/inbox/solana/keys";
import { callRpc, createWallet, payTokens, sharedSolana, startTestSolana } from "../../../test/support/solana.ts";
import { signWithKit } from "../../../test/support/solanaKit.ts";
import { readInboxProgram } from "../../../src/chain/solana/inboxProgram.ts";
import { LOCAL_INBOX_PROGRAM, LOCAL_MINTS, SOLANA_ACCOUNTS } from "../src/fixtures.ts";
import { createTokenAccount, findTokenAccount, sendLamports } from "../src/instructions.ts";
import type { Keypair } from "../src/keypairs.ts";
import type { LocalSolana } from "../src/startLocalSolana.ts";

const { payer, operator, feeRecipient, payoutFirst, recoveryFirst, stranger } = SOLANA_ACCOUNTS;
const { USDC, DUSD } = LOCAL_MINTS;
const usdc = USDC.address;

async function sign(solana: LocalSolana, from: Keypair, instructions: readonly SolanaInstruction[]): Promise<string> {
  const { value: lifetime } = await createSolanaRpc(solana.url).getLatestBlockhash({ commitment: "processed" }).send();
  return getBase64EncodedWireTransaction(await signWithKit({ payer: from, instructions, lifetime }));
}

test("the inbox program of this release is there, and no key can change it", async () => {
  const { control } = await sharedSolana();
  const state = await readInboxProgram(LOCAL_INBOX_PROGRAM, async (key) => control.account(key));
  assert.deepEqual(state, { kind: "present" });
});

test("the inbox program settles a deposit", async () => {
  const solana = await startTestSolana();
  const { control } = solana;
  for (const { address: owner } of [feeRecipient, payoutFirst])
    control.send([operator], [createTokenAccount(operator.address, { owner, mint: usdc })]);
  const [feeAccount, payoutAccount] = [feeRecipient, payoutFirst].map(({ address: owner }) =>
    findTokenAccount({ owner, mint: usdc }),
  );
  const inbox = computeSolanaInbox(
    {
      kind: "pay",
      mint: usdc,
      payout: payoutFirst.address,
      feeAccount: feeAccount ?? "",
      feeBps: 50,
      rentRecipient: operator.address,
      recovery: recoveryFirst.address,
      recoverAfter: 4_000_000_000,
      salt: `0x${"07".repeat(32)}`,
    },
    { program: LOCAL_INBOX_PROGRAM, tokenProgram: USDC.program },
  );
  payTokens(solana, { to: inbox.address, units: 2_000_000n });
  assert.equal(control.units(inbox.tokenAccount), 2_000_000n);
  control.send([stranger], [buildSettle([inbox])]);
  assert.deepEqual(
    [inbox.tokenAccount, feeAccount ?? "", payoutAccount ?? ""].map((each) => control.units(each)),
    [0n, 10_000n, 1_990_000n],
  );
});

test("the issuer freezes and thaws token accounts of both programs", async () => {
  const solana = await sharedSolana();
  for (const { address: mint, program } of [USDC, DUSD]) {
    const to = createWallet(solana).address;
    const { account } = solana.control.mintTokens({ mint, owner: to, units: 1n });
    solana.control.setFrozen(account, true);
    assert.throws(() => payTokens(solana, { to, units: 1n, mint, program }), /Account is frozen/);
    solana.control.setFrozen(account, false);
    payTokens(solana, { to, units: 1n, mint, program });
    assert.equal(solana.control.units(account), 2n);
  }
});

test("accounts that the control writes are seen level by level", async () => {
  const solana = await startTestSolana({ finalizedAfter: 2 });
  const { control } = solana;
  const key = createWallet(solana, 0n).address;
  const lamportsAt = async (commitment: string) => {
    const { result } = await callRpc(solana, "getBalance", key, { commitment });
    return (result as { value: number }).value;
  };
  control.setAccount(key, { owner: systemProgram, data: new Uint8Array(0), lamports: 5n });
  assert.deepEqual([await lamportsAt("processed"), await lamportsAt("finalized")], [5, 0]);
  control.finalize();
  control.setAccount(key, undefined);
  assert.deepEqual([await lamportsAt("processed"), await lamportsAt("finalized")], [0, 5]);
  assert.equal(control.account(key), undefined);
  control.fork(1);
  assert.equal(await lamportsAt("processed"), 5);
});

test("kit's airdrop is confirmed", async () => {
  const solana = await startTestSolana({ slotMs: 20 });
  const rpc = createSolanaRpc(solana.url);
  const airdrop = airdropFactory({ rpc, rpcSubscriptions: createSolanaRpcSubscriptions(solana.wsUrl) } as never);
  const recipientAddress = address(createWallet(solana, 0n).address);
  await airdrop({ recipientAddress, lamports: lamports(3_000_000n), commitment: "confirmed" });
  const { value } = await rpc.getBalance(recipientAddress, { commitment: "confirmed" }).send();
  assert.equal(value, 3_000_000n);
});

test("the fee that a node foretells is the one that is charged, priority included", async () => {
  const solana = await sharedSolana();
  const budget = "ComputeBudget111111111111111111111111111111";
  const setLimit = { program: budget, accounts: [], data: Uint8Array.of(2, 0x40, 0x0d, 3, 0) };
  const setPrice = { program: budget, accounts: [], data: Uint8Array.of(3, 0x41, 0x42, 0x0f, 0, 0, 0, 0, 0) };
  const transfer = sendLamports(payer.address, createWallet(solana, 0n).address, 1_000_000n);
  const create = createTokenAccount(payer.address, { owner: createWallet(solana, 0n).address, mint: usdc });
  const feesOf = async (instructions: readonly SolanaInstruction[]) => {
    const wire = await sign(solana, payer, instructions);
    const { messageBytes } = getTransactionDecoder().decode(getBase64Encoder().encode(wire));
    const message = Buffer.from(messageBytes).toString("base64");
    const foretold = await callRpc(solana, "getFeeForMessage", message, { commitment: "processed" });
    const options = { encoding: "base64", preflightCommitment: "processed" };
    const sent = await callRpc(solana, "sendTransaction", wire, options);
    solana.control.confirm();
    const landed = await callRpc(solana, "getTransaction", sent.result, {
      commitment: "confirmed",
      maxSupportedTransactionVersion: 0,
    });
    return [(foretold.result as { value: number }).value, (landed.result as { meta: { fee: number } }).meta.fee];
  };
  assert.deepEqual(await feesOf([setLimit, setPrice, transfer]), [205_001, 205_001]);
  // Without a limit, the built-in programs count for less than others.
  assert.deepEqual(await feesOf([setPrice, transfer, create]), [211_001, 211_001]);
});

test("a simulation shows what would change and changes nothing", async () => {
  const solana = await sharedSolana();
  const receiver = createWallet(solana, 0n).address;
  const wire = await sign(solana, payer, [sendLamports(payer.address, receiver, 2_000_000n)]);
  const simulate = async (options: object) => {
    const reply = await callRpc(solana, "simulateTransaction", wire, {
      encoding: "base64",
      commitment: "processed",
      accounts: { addresses: [receiver], encoding: "base64" },
      ...options,
    });
    return (reply.result as { value: { err: unknown; accounts: ({ lamports: number } | null)[] } } | undefined)?.value;
  };
  assert.equal((await simulate({ sigVerify: true }))?.accounts[0]?.lamports, 2_000_000);
  assert.equal(solana.control.account(receiver), undefined);
  assert.equal((await simulate({ sigVerify: true, replaceRecentBlockhash: true }))?.err, undefined);
  solana.control.expireBlockhashes();
  assert.equal((await simulate({}))?.err, "BlockhashNotFound");
  assert.equal((await simulate({ replaceRecentBlockhash: true }))?.err, null);
});

test("a simulation runs on the state of its level", async () => {
  const solana = await startTestSolana({ finalizedAfter: 2 });
  const { control } = solana;
  const poor = createWallet(solana, 0n);
  control.finalize();
  control.airdrop(poor.address, 10_000_000n);
  const { value: lifetime } = await createSolanaRpc(solana.url).getLatestBlockhash().send();
  const instructions = [sendLamports(poor.address, payer.address, 1_000_000n)];
  const wire = getBase64EncodedWireTransaction(await signWithKit({ payer: poor, instructions, lifetime }));
  const send = async (preflightCommitment: string) =>
    callRpc(solana, "sendTransaction", wire, { encoding: "base64", preflightCommitment });
  assert.equal((await send("finalized")).error?.code, -32_002);
  assert.equal(control.account(poor.address)?.lamports, 10_000_000n);
  assert.equal((await send("processed")).error, undefined);
});

test("wallets create lookup tables themselves", async () => {
  const { control } = await startTestSolana();
  const program = "AddressLookupTab1e1111111111111111111111111";
  control.nextSlot(3);
  const slot = Buffer.alloc(8);
  slot.writeBigUInt64LE(BigInt(control.slot - 1));
  const authority = payer.address;
  const table = deriveAddress([decodeKey("authority", authority), new Uint8Array(slot)], program);
  const accounts = [
    writableMeta(table.address),
    signerMeta(authority),
    writableSignerMeta(authority),
    { address: systemProgram, isSigner: false, isWritable: false },
  ];
  const create = { program, accounts, data: Uint8Array.of(0, 0, 0, 0, ...slot, table.bump) };
  const keys = [...decodeKey("key", usdc), ...decodeKey("key", stranger.address)];
  const extend = { program, accounts, data: Uint8Array.of(2, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0, ...keys) };
  control.send([payer], [create, extend]);
  assert.deepEqual([...(control.account(table.address)?.data.slice(56) ?? [])], keys);
});

test("accounts of a program are found by size and content", async () => {
  const solana = await startTestSolana();
  const receiver = createWallet(solana).address;
  payTokens(solana, { to: receiver, units: 9n });
  const filters = [{ dataSize: 165 }, { memcmp: { offset: 32, bytes: receiver } }];
  const options = { commitment: "processed", encoding: "base64", filters };
  const { result } = await callRpc(solana, "getProgramAccounts", USDC.program, options);
  const account = findTokenAccount({ owner: receiver, mint: usdc });
  assert.deepEqual(
    (result as { pubkey: string }[]).map(({ pubkey }) => pubkey),
    [account],
  );
  const finalized = await callRpc(solana, "getProgramAccounts", USDC.program, { ...options, commitment: "finalized" });
  assert.deepEqual(finalized.result, []);
});

test("the time of the chain can be set", async () => {
  const solana = await startTestSolana({ finalizedAfter: 1 });
  const { control } = solana;
  control.setTime(2_000_000_000);
  const { slot } = control;
  control.finalize();
  assert.equal((await callRpc(solana, "getBlockTime", slot)).result, 2_000_000_000);
});
