import assert from "node:assert/strict";
import { test } from "node:test";
import { address, createSolanaRpc, getBase64EncodedWireTransaction } from "@solana/kit";
import { callRpc, createWallet, payTokens, startTestSolana } from "../../../test/support/solana.ts";
import { signWithKit } from "../../../test/support/solanaKit.ts";
import { LOCAL_MINTS, SOLANA_ACCOUNTS } from "../src/fixtures.ts";
import { findTokenAccount, sendLamports, transferTokens } from "../src/instructions.ts";

const { payer } = SOLANA_ACCOUNTS;
const usdc = LOCAL_MINTS.USDC.address;

test("signatures of an account come newest first, between two of them, failed ones included", async () => {
  const solana = await startTestSolana();
  const { control } = solana;
  const rpc = createSolanaRpc(solana.url);
  const receiver = createWallet(solana).address;
  const account = address(findTokenAccount({ owner: receiver, mint: usdc }));
  const pay = () => payTokens(solana, { to: receiver, units: 1n });
  const signatures = [pay(), pay()];
  control.nextSlot();
  signatures.push(pay());
  const { value: lifetime } = await rpc.getLatestBlockhash({ commitment: "processed" }).send();
  const from = findTokenAccount({ owner: payer.address, mint: usdc });
  const units = 10n ** 18n;
  const tooMuch = [transferTokens({ from, to: account, owner: payer.address, mint: usdc, units })];
  const wire = getBase64EncodedWireTransaction(await signWithKit({ payer, instructions: tooMuch, lifetime }));
  const failed = await rpc.sendTransaction(wire, { encoding: "base64", skipPreflight: true }).send();
  signatures.push(failed);
  control.confirm();
  const list = async (options: object = {}) => {
    const found = await callRpc(solana, "getSignaturesForAddress", account, { commitment: "confirmed", ...options });
    return found.result as { signature: string; err: unknown; slot: number; confirmationStatus: string }[];
  };
  const all = await list();
  assert.deepEqual(
    all.map(({ signature }) => signature),
    signatures.toReversed(),
  );
  assert.deepEqual([all[0]?.err, all[0]?.confirmationStatus], [{ InstructionError: [0, { Custom: 1 }] }, "confirmed"]);
  const [first, second, third] = signatures;
  const signaturesOf = async (options: object) => (await list(options)).map(({ signature }) => signature);
  assert.deepEqual(await signaturesOf({ before: failed, until: first }), [third, second]);
  assert.deepEqual(await signaturesOf({ limit: 1, before: third }), [second]);
  const unknown = "1".repeat(63) + "2";
  assert.deepEqual((await list({ before: unknown })).length, 0);
  assert.deepEqual((await list({ until: unknown })).length, 4);
  assert.deepEqual((await callRpc(solana, "getSignaturesForAddress", account)).result, []);
  const tooMany = await callRpc(solana, "getSignaturesForAddress", account, { limit: 1_001 });
  assert.equal(tooMany.error?.code, -32_602);
});

test("accounts of a lookup table count as accounts of the transaction", async () => {
  const solana = await startTestSolana();
  const { control } = solana;
  const rpc = createSolanaRpc(solana.url);
  const owner = createWallet(solana).address;
  payTokens(solana, { to: owner, units: 1n });
  const [from, to] = [payer.address, owner].map((each) => findTokenAccount({ owner: each, mint: usdc }));
  const tableKeys = [to ?? "", usdc, createWallet(solana, 0n).address];
  const table = control.createLookupTable(tableKeys);
  control.nextSlot();
  const { value: lifetime } = await rpc.getLatestBlockhash({ commitment: "processed" }).send();
  const transfer = transferTokens({
    from: from ?? "",
    to: to ?? "",
    owner: payer.address,
    mint: usdc,
    units: 250_000n,
  });
  const signed = await signWithKit({ payer, instructions: [transfer], lifetime, tables: { [table]: tableKeys } });
  const wire = getBase64EncodedWireTransaction(signed);
  const sent = await rpc.sendTransaction(wire, { encoding: "base64", preflightCommitment: "confirmed" }).send();
  control.confirm();
  const confirmed = { commitment: "confirmed", encoding: "json" } as const;
  const found = await rpc.getTransaction(sent, { ...confirmed, maxSupportedTransactionVersion: 0 }).send();
  assert.equal(found?.version, 0);
  assert.deepEqual(found?.meta?.loadedAddresses, { writable: [to], readonly: [usdc] });
  const { accountKeys } = found.transaction.message;
  assert.ok(!accountKeys.some((key) => key === to));
  const index = accountKeys.length;
  const balance = found.meta.postTokenBalances?.find(({ accountIndex }) => accountIndex === index);
  assert.deepEqual([balance?.owner, balance?.mint, balance?.uiTokenAmount.amount], [owner, usdc, "250001"]);
  const history = await rpc.getSignaturesForAddress(address(to ?? ""), { commitment: "confirmed" }).send();
  assert.equal(history[0]?.signature, sent);
  const refused = await callRpc(solana, "getTransaction", sent, confirmed);
  assert.equal(refused.error?.code, -32_015);
  const block = await callRpc(solana, "getBlock", Number(found.slot), confirmed);
  assert.equal(block.error?.code, -32_015);
});

test("a transfer inside another program shows among the inner instructions", async () => {
  const solana = await startTestSolana();
  const receiver = createWallet(solana).address;
  const paid = payTokens(solana, { to: receiver, units: 1n });
  solana.control.confirm();
  const options = { commitment: "confirmed", maxSupportedTransactionVersion: 0 };
  const { result } = await callRpc(solana, "getTransaction", paid, options);
  const { meta, transaction } = result as {
    meta: { innerInstructions: { index: number; instructions: { stackHeight: number; programIdIndex: number }[] }[] };
    transaction: { message: { accountKeys: string[] } };
  };
  const [inner] = meta.innerInstructions;
  assert.equal(inner?.index, 0);
  const programs = inner.instructions.map(({ programIdIndex }) => transaction.message.accountKeys[programIdIndex]);
  assert.ok(programs.includes(LOCAL_MINTS.USDC.program));
  assert.ok(inner.instructions.every(({ stackHeight }) => stackHeight === 2));
});

test("blocks list their transactions in as much detail as the caller asks for", async () => {
  const solana = await startTestSolana();
  const { control } = solana;
  const receiver = createWallet(solana).address;
  const { slot } = control;
  const paid = payTokens(solana, { to: receiver, units: 1n });
  control.finalize();
  const read = async (transactionDetails: string) => {
    const options = { transactionDetails, maxSupportedTransactionVersion: 0, rewards: false };
    return (await callRpc(solana, "getBlock", slot, options)).result as Record<string, unknown>;
  };
  const [none, signatures, accounts, full] = [
    await read("none"),
    await read("signatures"),
    await read("accounts"),
    await read("full"),
  ];
  assert.deepEqual([none["transactions"], none["signatures"], none["rewards"]], [undefined, undefined, undefined]);
  assert.equal((signatures["signatures"] as string[]).at(-1), paid);
  type Described = { transaction: { signatures: string[]; accountKeys?: { pubkey: string; signer: boolean }[] } };
  const described = (accounts["transactions"] as Described[]).at(-1)?.transaction;
  assert.deepEqual(described?.signatures, [paid]);
  assert.deepEqual(described.accountKeys?.[0], {
    pubkey: payer.address,
    signer: true,
    source: "transaction",
    writable: true,
  });
  assert.deepEqual((full["transactions"] as Described[]).at(-1)?.transaction.signatures, [paid]);
});

test("old blocks and transactions are forgotten", async () => {
  const solana = await startTestSolana({ finalizedAfter: 2, blocksMax: 10, transactionsMax: 10 });
  const { control } = solana;
  const receiver = createWallet(solana).address;
  const { slot } = control;
  const old = control.send([payer], [sendLamports(payer.address, receiver, 1n)]);
  control.nextSlot(1_100);
  assert.equal((await callRpc(solana, "getBlock", slot)).error?.code, -32_001);
  assert.equal((await callRpc(solana, "getTransaction", old)).result, null);
  assert.deepEqual((await callRpc(solana, "getSignaturesForAddress", receiver)).result, []);
});
