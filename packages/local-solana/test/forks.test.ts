import assert from "node:assert/strict";
import { test } from "node:test";
import { address, createSolanaRpc, getBase64EncodedWireTransaction } from "@solana/kit";
import { callRpc, createWallet, payTokens, startTestSolana } from "../../../test/support/solana.ts";
import { signWithKit } from "../../../test/support/solanaKit.ts";
import { LOCAL_MINTS, SOLANA_ACCOUNTS } from "../src/fixtures.ts";
import { findTokenAccount, sendLamports } from "../src/instructions.ts";

const { payer } = SOLANA_ACCOUNTS;
const usdc = LOCAL_MINTS.USDC.address;

type BlockReply = {
  blockhash: string;
  previousBlockhash: string;
  parentSlot: number;
  blockHeight: number;
  signatures: string[];
};

test("skipped slots have no block; hashes, parents and heights pass over them", async () => {
  const solana = await startTestSolana({ finalizedAfter: 2 });
  const { control } = solana;
  const first = control.slot;
  control.skip(3);
  const second = control.slot;
  assert.equal(second, first + 4);
  control.finalize();
  const options = { transactionDetails: "none", rewards: false };
  const before = (await callRpc(solana, "getBlock", first, options)).result as BlockReply;
  const after = (await callRpc(solana, "getBlock", second, options)).result as BlockReply;
  assert.deepEqual(
    [after.previousBlockhash, after.parentSlot, after.blockHeight],
    [before.blockhash, first, before.blockHeight + 1],
  );
  assert.equal((await callRpc(solana, "getBlock", first + 1, options)).error?.code, -32_007);
  assert.deepEqual((await callRpc(solana, "getBlocks", first, second)).result, [first, second]);
  assert.deepEqual((await callRpc(solana, "getBlocksWithLimit", first + 1, 1)).result, [second]);
  const slot = (await callRpc(solana, "getSlot")).result as number;
  const height = (await callRpc(solana, "getBlockHeight")).result as number;
  assert.ok(slot > height);
});

test("each level reads the balances as they were at its slot", async () => {
  const solana = await startTestSolana({ confirmedAfter: 1, finalizedAfter: 3 });
  const rpc = createSolanaRpc(solana.url);
  const owner = createWallet(solana).address;
  const account = findTokenAccount({ owner, mint: usdc });
  const unitsAt = async (commitment: "processed" | "confirmed" | "finalized") => {
    const options = { commitment, encoding: "base64", dataSlice: { offset: 64, length: 8 } } as const;
    const { value } = await rpc.getMultipleAccounts([address(account)], options).send();
    const data = value[0]?.data[0];
    return data === undefined ? undefined : Buffer.from(data, "base64").readBigUInt64LE();
  };
  const units = async () => [await unitsAt("processed"), await unitsAt("confirmed"), await unitsAt("finalized")];
  payTokens(solana, { to: owner, units: 1n });
  assert.deepEqual(await units(), [1n, undefined, undefined]);
  solana.control.nextSlot();
  payTokens(solana, { to: owner, units: 2n });
  assert.deepEqual(await units(), [3n, 1n, undefined]);
  solana.control.nextSlot(2);
  payTokens(solana, { to: owner, units: 4n });
  assert.deepEqual(await units(), [7n, 3n, 1n]);
  solana.control.nextSlot(3);
  assert.deepEqual(await units(), [7n, 7n, 7n]);
});

test("a fork undoes what its blocks did; its transactions land again or are gone", async () => {
  const solana = await startTestSolana({ finalizedAfter: 8 });
  const { control } = solana;
  const owner = createWallet(solana).address;
  const account = findTokenAccount({ owner, mint: usdc });
  const stays = payTokens(solana, { to: owner, units: 1n });
  control.nextSlot();
  const [kept, lost] = [payTokens(solana, { to: owner, units: 2n }), payTokens(solana, { to: owner, units: 4n })];
  const forked = control.slot;
  assert.deepEqual(control.fork(1, { keep: [kept] }), [lost]);
  assert.equal(control.units(account), 3n);
  control.finalize();
  const statuses = await callRpc(solana, "getSignatureStatuses", [stays, kept, lost]);
  const { value } = statuses.result as { value: ({ slot: number; confirmationStatus: string } | null)[] };
  assert.deepEqual(
    value.map((each) => each?.confirmationStatus),
    ["finalized", "finalized", undefined],
  );
  assert.equal(value[1]?.slot, forked + 1);
  assert.equal((await callRpc(solana, "getBlock", forked)).error?.code, -32_007);
  const history = await callRpc(solana, "getSignaturesForAddress", account);
  assert.deepEqual(
    (history.result as { signature: string }[]).map(({ signature }) => signature),
    [kept, stays],
  );
});

test("a fork of confirmed blocks takes their level back; finalized blocks stay", async () => {
  const solana = await startTestSolana({ confirmedAfter: 1, finalizedAfter: 4 });
  const { control } = solana;
  control.nextSlot(10);
  const slotAt = async (commitment: string) => (await callRpc(solana, "getSlot", { commitment })).result as number;
  const [confirmed, finalized] = [await slotAt("confirmed"), await slotAt("finalized")];
  assert.throws(() => control.fork(5), RangeError);
  control.fork(4);
  assert.ok((await slotAt("confirmed")) < confirmed);
  assert.equal(await slotAt("finalized"), finalized);
  control.nextSlot(3);
  assert.equal(await slotAt("finalized"), finalized);
  const block = (await callRpc(solana, "getBlock", control.slot - 1, { commitment: "confirmed" })).result as BlockReply;
  const parent = (await callRpc(solana, "getBlock", block.parentSlot, { commitment: "confirmed" }))
    .result as BlockReply;
  assert.equal(block.previousBlockhash, parent.blockhash);
});

test("a transaction of a dropped blockhash never lands", async () => {
  const solana = await startTestSolana();
  const { control } = solana;
  control.nextSlot(2);
  const rpc = createSolanaRpc(solana.url);
  const { value: lifetime } = await rpc.getLatestBlockhash({ commitment: "confirmed" }).send();
  const instructions = [sendLamports(payer.address, createWallet(solana, 0n).address, 1_000_000n)];
  const wire = getBase64EncodedWireTransaction(await signWithKit({ payer, instructions, lifetime }));
  control.fork(2);
  const options = { encoding: "base64", skipPreflight: true };
  const sent = (await callRpc(solana, "sendTransaction", wire, options)).result as string;
  control.finalize();
  const { result } = await callRpc(solana, "getSignatureStatuses", [sent], { searchTransactionHistory: true });
  assert.deepEqual((result as { value: unknown[] }).value, [null]);
});

test("a blockhash is valid for 150 blocks more", async () => {
  const solana = await startTestSolana();
  const { control } = solana;
  const rpc = createSolanaRpc(solana.url);
  const { value: lifetime } = await rpc.getLatestBlockhash({ commitment: "processed" }).send();
  const isValid = async () =>
    (await rpc.isBlockhashValid(lifetime.blockhash, { commitment: "processed" }).send()).value;
  const heightOf = () => rpc.getBlockHeight({ commitment: "processed" }).send();
  control.nextSlot(Number(lifetime.lastValidBlockHeight - (await heightOf())));
  assert.equal(await isValid(), true);
  control.nextSlot(2);
  assert.equal(await isValid(), false);
  const instructions = [sendLamports(payer.address, createWallet(solana, 0n).address, 1_000_000n)];
  const wire = getBase64EncodedWireTransaction(await signWithKit({ payer, instructions, lifetime }));
  const { error } = await callRpc(solana, "sendTransaction", wire, {
    encoding: "base64",
    preflightCommitment: "processed",
  });
  assert.deepEqual([error?.code, error?.message], [-32_002, "Transaction simulation failed: Blockhash not found"]);
});

test("sent transactions can be held and lost", async () => {
  const solana = await startTestSolana();
  const { control } = solana;
  const rpc = createSolanaRpc(solana.url);
  const send = async () => {
    const { value: lifetime } = await rpc.getLatestBlockhash({ commitment: "processed" }).send();
    const instructions = [sendLamports(payer.address, createWallet(solana, 0n).address, 1_000_000n)];
    const wire = getBase64EncodedWireTransaction(await signWithKit({ payer, instructions, lifetime }));
    const options = { encoding: "base64", preflightCommitment: "processed" } as const;
    return rpc.sendTransaction(wire, options).send();
  };
  const statusOf = async (signature: Awaited<ReturnType<typeof send>>) =>
    (await rpc.getSignatureStatuses([signature]).send()).value[0]?.confirmationStatus;
  control.setLanding("hold");
  const held = await send();
  control.setLanding("drop");
  const dropped = await send();
  assert.deepEqual([await statusOf(held), await statusOf(dropped)], [undefined, undefined]);
  control.nextSlot();
  control.release();
  assert.deepEqual([await statusOf(held), await statusOf(dropped)], ["processed", undefined]);
});
