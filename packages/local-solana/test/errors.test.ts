import assert from "node:assert/strict";
import { before, test } from "node:test";
import {
  createSolanaRpc,
  getBase64EncodedWireTransaction,
  isSolanaError,
  SOLANA_ERROR__INSTRUCTION_ERROR__CUSTOM,
  SOLANA_ERROR__JSON_RPC__SERVER_ERROR_BLOCK_NOT_AVAILABLE,
  SOLANA_ERROR__JSON_RPC__SERVER_ERROR_SEND_TRANSACTION_PREFLIGHT_FAILURE,
  SOLANA_ERROR__JSON_RPC__SERVER_ERROR_SLOT_SKIPPED,
} from "@solana/kit";
import { callRpc, createWallet, postRpc, sharedSolana, startTestSolana } from "../../../test/support/solana.ts";
import type { RpcReply } from "../../../test/support/solana.ts";
import { signWithKit } from "../../../test/support/solanaKit.ts";
import { SOLANA_ACCOUNTS } from "../src/fixtures.ts";
import { sendLamports } from "../src/instructions.ts";
import type { LocalSolana } from "../src/startLocalSolana.ts";

const { payer } = SOLANA_ACCOUNTS;
let solana: LocalSolana;

before(async () => {
  solana = await sharedSolana();
});

async function sign(lamports: bigint, count = 1): Promise<string> {
  const { value: lifetime } = await createSolanaRpc(solana.url).getLatestBlockhash({ commitment: "processed" }).send();
  const receivers = Array.from({ length: count }, () => createWallet(solana, 0n).address);
  const instructions = receivers.map((receiver) => sendLamports(payer.address, receiver, lamports));
  return getBase64EncodedWireTransaction(await signWithKit({ payer, instructions, lifetime }));
}

const processed = { encoding: "base64", preflightCommitment: "processed" };
const codeOf = async (method: string, ...params: readonly unknown[]) =>
  (await callRpc(solana, method, ...params)).error?.code;

test("batches are answered in order, each call on its own", async () => {
  const call = (id: number, method: string) => ({ jsonrpc: "2.0", id, method, params: [] });
  const replies = (await postRpc(solana, [
    call(1, "getGenesisHash"),
    call(2, "noSuchMethod"),
    call(3, "getHealth"),
  ])) as (RpcReply & { id: number })[];
  assert.deepEqual(
    replies.map(({ id, result, error }) => [id, result ?? error?.code]),
    [
      [1, solana.genesisHash],
      [2, -32_601],
      [3, "ok"],
    ],
  );
  const codes = await Promise.all(
    ["{", "[]", "7"].map(async (body) => ((await postRpc(solana, body)) as RpcReply).error?.code),
  );
  assert.deepEqual(codes, [-32_700, -32_600, -32_600]);
});

test("a body of more than 50 kB is refused", async () => {
  const response = await fetch(solana.url, { method: "POST", body: `"${"x".repeat(51_200)}"` });
  assert.equal(response.status, 413);
});

test("wrong parameters are refused", async () => {
  const key = payer.address;
  assert.deepEqual(
    [
      await codeOf("getBalance", "no key"),
      await codeOf("getBalance", key, { commitment: "most" }),
      await codeOf(
        "getMultipleAccounts",
        Array.from({ length: 101 }, () => key),
      ),
      await codeOf("getBlock", -1),
      await codeOf("getBlock", solana.control.slot, { commitment: "processed" }),
      await codeOf("getSignatureStatuses", ["x"]),
      await codeOf("getTokenAccountBalance", key),
      await codeOf("sendTransaction", "AAAA", { encoding: "base64" }),
    ],
    Array.from({ length: 8 }, () => -32_602),
  );
});

test("a slot that the node has not reached is refused", async () => {
  const { error } = await callRpc(solana, "getBalance", payer.address, { minContextSlot: 10 ** 9 });
  assert.equal(error?.code, -32_016);
  assert.equal(await codeOf("getBlock", 10 ** 9), -32_004);
});

test("providers with long-term storage refuse skipped slots by another code", async () => {
  const stored = await startTestSolana({ hasLongTermStorage: true, finalizedAfter: 1 });
  const { slot } = stored.control;
  stored.control.skip(1);
  stored.control.finalize();
  assert.equal((await callRpc(stored, "getBlock", slot + 1)).error?.code, -32_009);
});

test("kit names the errors of slots", async () => {
  const own = await startTestSolana({ finalizedAfter: 1 });
  const rpc = createSolanaRpc(own.url);
  const slot = BigInt(own.control.slot);
  own.control.skip(1);
  own.control.finalize();
  await assert.rejects(rpc.getBlock(slot + 1n).send(), (error) =>
    isSolanaError(error, SOLANA_ERROR__JSON_RPC__SERVER_ERROR_SLOT_SKIPPED),
  );
  await assert.rejects(rpc.getBlock(slot + 100n).send(), (error) =>
    isSolanaError(error, SOLANA_ERROR__JSON_RPC__SERVER_ERROR_BLOCK_NOT_AVAILABLE),
  );
});

test("a transaction that would fail is refused with its logs, and kit finds the program's code", async () => {
  const wire = await sign(10n ** 18n);
  const { error } = await callRpc(solana, "sendTransaction", wire, processed);
  const data = error?.data as { err: unknown; logs: string[]; unitsConsumed: number };
  assert.deepEqual(
    [error?.code, error?.message, data.err],
    [
      -32_002,
      "Transaction simulation failed: Error processing Instruction 0: custom program error: 0x1",
      { InstructionError: [0, { Custom: 1 }] },
    ],
  );
  assert.ok(data.logs.some((line) => line.includes("insufficient lamports")));
  const send = createSolanaRpc(solana.url)
    .sendTransaction(wire as never, processed as never)
    .send();
  await assert.rejects(
    send,
    (failure) =>
      isSolanaError(failure, SOLANA_ERROR__JSON_RPC__SERVER_ERROR_SEND_TRANSACTION_PREFLIGHT_FAILURE) &&
      isSolanaError(failure.cause, SOLANA_ERROR__INSTRUCTION_ERROR__CUSTOM),
  );
});

test("a blockhash newer than the level of the simulation is unknown there", async () => {
  solana.control.nextSlot();
  const { error } = await callRpc(solana, "sendTransaction", await sign(1_000_000n), { encoding: "base64" });
  assert.equal(error?.message, "Transaction simulation failed: Blockhash not found");
});

test("sending again what has landed is refused by the simulation, and harmless without one", async () => {
  const wire = await sign(1_000_000n);
  const { result } = await callRpc(solana, "sendTransaction", wire, processed);
  const again = await callRpc(solana, "sendTransaction", wire, processed);
  assert.equal(again.error?.message, "Transaction simulation failed: This transaction has already been processed");
  const count = async () => (await callRpc(solana, "getTransactionCount")).result;
  const before = await count();
  const unchecked = await callRpc(solana, "sendTransaction", wire, { encoding: "base64", skipPreflight: true });
  assert.deepEqual([unchecked.result, await count()], [result, before]);
});

test("a wrong signature is refused, and never lands without a simulation", async () => {
  const wire = Buffer.from(await sign(1_000_000n), "base64");
  wire.writeUInt8(wire.readUInt8(5) ^ 1, 5);
  const text = wire.toString("base64");
  assert.equal(await codeOf("sendTransaction", text, processed), -32_003);
  const { result } = await callRpc(solana, "sendTransaction", text, { encoding: "base64", skipPreflight: true });
  assert.deepEqual(((await callRpc(solana, "getSignatureStatuses", [result])).result as { value: unknown }).value, [
    null,
  ]);
});

test("a transaction of more than 1,232 bytes is refused", async () => {
  const wire = Buffer.from(await sign(1_000_000n, 5), "base64");
  const long = Buffer.concat([wire, Buffer.alloc(1_233 - wire.length)]).toString("base64");
  const { error } = await callRpc(solana, "sendTransaction", long, processed);
  assert.match(error?.message ?? "", /too large: 1233 bytes \(max: 1232 bytes\)/);
});

test("a payer without lamports is refused; nothing lands without a simulation", async () => {
  const poor = createWallet(solana, 0n);
  const { value: lifetime } = await createSolanaRpc(solana.url).getLatestBlockhash({ commitment: "processed" }).send();
  const instructions = [sendLamports(poor.address, payer.address, 1n)];
  const wire = getBase64EncodedWireTransaction(await signWithKit({ payer: poor, instructions, lifetime }));
  const { error } = await callRpc(solana, "sendTransaction", wire, processed);
  assert.deepEqual((error?.data as { err: unknown } | undefined)?.err, "AccountNotFound");
  const { result } = await callRpc(solana, "sendTransaction", wire, { encoding: "base64", skipPreflight: true });
  const { result: statuses } = await callRpc(solana, "getSignatureStatuses", [result]);
  assert.deepEqual((statuses as { value: unknown }).value, [null]);
});
