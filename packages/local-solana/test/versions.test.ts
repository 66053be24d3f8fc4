import assert from "node:assert/strict";
import { test } from "node:test";
import { address, createSolanaRpc, getBase64EncodedWireTransaction } from "@solana/kit";
import { tokenProgram } from "@tributary/inbox/solana/keys";
import { readonlyMeta } from "@tributary/inbox/solana/instructions";
import { callRpc, createWallet, payTokens, startTestSolana } from "../../../test/support/solana.ts";
import { sendVersion1, signWithKit } from "../../../test/support/solanaKit.ts";
import { LOCAL_MINTS, SOLANA_ACCOUNTS } from "../src/fixtures.ts";
import { createTokenAccount, findTokenAccount, sendLamports, transferTokens } from "../src/instructions.ts";

// Versions of transactions, and what nodes tell of tokens.

const { payer } = SOLANA_ACCOUNTS;
const USDC = LOCAL_MINTS.USDC.address;
const confirmed = { commitment: "confirmed", encoding: "json" } as const;

test("kit's transactions of version 1 land, and only callers that allow the version get them", async () => {
  const solana = await startTestSolana();
  const owner = createWallet(solana, 0n).address;
  const to = findTokenAccount({ owner, mint: USDC });
  const from = findTokenAccount({ owner: payer.address, mint: USDC });
  const instructions = [
    createTokenAccount(payer.address, { owner, mint: USDC }),
    transferTokens({ from, to, owner: payer.address, mint: USDC, units: 7n }),
  ];
  const sent = await sendVersion1(solana, { payer, instructions });
  solana.control.confirm();
  assert.equal(solana.control.units(to), 7n);
  const { result } = await callRpc(solana, "getTransaction", sent, { ...confirmed, maxSupportedTransactionVersion: 1 });
  const { version, transaction, meta } = result as {
    version: number;
    transaction: { message: { accountKeys: string[]; transactionConfig: object } };
    meta: { err: unknown; postTokenBalances: { accountIndex: number; uiTokenAmount: { amount: string } }[] };
  };
  assert.deepEqual([version, meta.err], [1, null]);
  assert.deepEqual(transaction.message.transactionConfig, {
    computeUnitLimit: 200_000,
    heapSize: null,
    loadedAccountsDataSizeLimit: 1_000_000,
    priorityFee: 0,
  });
  const index = transaction.message.accountKeys.indexOf(to);
  assert.equal(meta.postTokenBalances.find((each) => each.accountIndex === index)?.uiTokenAmount.amount, "7");
  for (const max of [0, undefined]) {
    const options = max === undefined ? confirmed : { ...confirmed, maxSupportedTransactionVersion: max };
    const refused = await callRpc(solana, "getTransaction", sent, options);
    assert.deepEqual([refused.error?.code, refused.error?.message.includes("version (1)")], [-32_015, true]);
  }
  solana.control.claimVersion(sent, 2);
  const later = await callRpc(solana, "getTransaction", sent, { ...confirmed, maxSupportedTransactionVersion: 1 });
  assert.deepEqual([later.error?.code, later.error?.message.includes("version (2)")], [-32_015, true]);
});

test("the priority fee of version 1 is charged as foretold, and a wrong signature never lands", async () => {
  const solana = await startTestSolana();
  const rpc = createSolanaRpc(solana.url);
  const { value: lifetime } = await rpc.getLatestBlockhash({ commitment: "processed" }).send();
  const to = createWallet(solana, 0n).address;
  const instructions = [sendLamports(payer.address, to, 1_000_000n)];
  const signed = await signWithKit({ payer, instructions, lifetime, version: 1, priorityFeeLamports: 777n });
  const message = Buffer.from(signed.messageBytes).toString("base64");
  const foretold = await callRpc(solana, "getFeeForMessage", message, { commitment: "processed" });
  const wire = getBase64EncodedWireTransaction(signed);
  const broken = Buffer.from(wire, "base64");
  broken.writeUInt8(broken.readUInt8(broken.length - 1) ^ 1, broken.length - 1);
  const options = { encoding: "base64", preflightCommitment: "processed" };
  const refused = await callRpc(solana, "sendTransaction", broken.toString("base64"), options);
  assert.equal(refused.error?.code, -32_003);
  await callRpc(solana, "sendTransaction", broken.toString("base64"), { ...options, skipPreflight: true });
  const sent = await callRpc(solana, "sendTransaction", wire, options);
  solana.control.confirm();
  const { result } = await callRpc(solana, "getTransaction", sent.result, {
    ...confirmed,
    maxSupportedTransactionVersion: 1,
  });
  const { fee } = (result as { meta: { fee: number } }).meta;
  assert.deepEqual([(foretold.result as { value: number }).value, fee], [5_777, 5_777]);
  const { value } = await rpc.getBalance(address(to), { commitment: "confirmed" }).send();
  assert.equal(value, 1_000_000n);
});

test("token balances are listed only beside a token program", async () => {
  const solana = await startTestSolana();
  const { address: owner } = createWallet(solana, 0n);
  payTokens(solana, { to: owner, units: 5n });
  const account = findTokenAccount({ owner, mint: USDC });
  const transfer = sendLamports(payer.address, account, 1n);
  const without = solana.control.send([payer], [transfer]);
  const named = { ...transfer, accounts: [...transfer.accounts, readonlyMeta(tokenProgram)] };
  const beside = solana.control.send([payer], [named]);
  solana.control.confirm();
  const balancesOf = async (signature: string) => {
    const options = { ...confirmed, maxSupportedTransactionVersion: 0 };
    const { result } = await callRpc(solana, "getTransaction", signature, options);
    const { meta } = result as { meta: { preTokenBalances: object[]; postTokenBalances: object[] } };
    return [meta.preTokenBalances.length, meta.postTokenBalances.length];
  };
  assert.deepEqual(
    [await balancesOf(without), await balancesOf(beside)],
    [
      [0, 0],
      [1, 1],
    ],
  );
});
