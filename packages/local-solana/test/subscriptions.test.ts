import assert from "node:assert/strict";
import { once } from "node:events";
import { test } from "node:test";
import { address, createSolanaRpcSubscriptions, signature } from "@solana/kit";
import { createWallet, payTokens, startTestSolana } from "../../../test/support/solana.ts";
import { LOCAL_MINTS } from "../src/fixtures.ts";
import { findTokenAccount } from "../src/instructions.ts";

const usdc = LOCAL_MINTS.USDC.address;

async function firstOf<Item>(items: AsyncIterable<Item>): Promise<Item | undefined> {
  for await (const item of items) return item;
  return undefined;
}

test("kit gets slots, roots, accounts, logs and signatures", async () => {
  const solana = await startTestSolana({ finalizedAfter: 2 });
  const { control } = solana;
  const subscriptions = createSolanaRpcSubscriptions(solana.wsUrl);
  const abort = new AbortController();
  const options = { abortSignal: abort.signal };
  const receiver = createWallet(solana).address;
  const account = address(findTokenAccount({ owner: receiver, mint: usdc }));
  const slots = await subscriptions.slotNotifications().subscribe(options);
  const roots = await subscriptions.rootNotifications().subscribe(options);
  const confirmed = { commitment: "confirmed" } as const;
  const accounts = await subscriptions
    .accountNotifications(account, { ...confirmed, encoding: "base64" })
    .subscribe(options);
  const logs = await subscriptions.logsNotifications({ mentions: [account] }, confirmed).subscribe(options);
  const first = Promise.all([firstOf(slots), firstOf(roots), firstOf(accounts), firstOf(logs)]);
  const { slot } = control;
  const paid = payTokens(solana, { to: receiver, units: 7n });
  const landed = firstOf(
    await subscriptions.signatureNotifications(signature(paid), { commitment: "finalized" }).subscribe(options),
  );
  control.finalize();
  const [newSlot, root, changed, mentioned] = await first;
  assert.deepEqual(newSlot, { parent: BigInt(slot), root: BigInt(slot - 1), slot: BigInt(slot + 1) });
  assert.equal(root, BigInt(slot));
  assert.equal(Buffer.from(changed?.value?.data[0] ?? "", "base64").readBigUInt64LE(64), 7n);
  assert.equal(mentioned?.value.signature, paid);
  assert.equal((await landed)?.value.err, null);
  abort.abort();
});

/** The websocket of the platform, for what kit hides. */
async function openSocket(url: string) {
  const socket = new WebSocket(url);
  await once(socket, "open");
  let id = 0;
  const received: Record<string, unknown>[] = [];
  socket.addEventListener("message", ({ data }) => received.push(JSON.parse(String(data)) as Record<string, unknown>));
  const call = async (method: string, ...params: readonly unknown[]) => {
    id += 1;
    socket.send(JSON.stringify({ jsonrpc: "2.0", id, method, params }));
    for (;;) {
      const reply = received.find((each) => each["id"] === id);
      if (reply !== undefined) return reply as { result?: unknown; error?: { code: number } };
      await once(socket, "message");
    }
  };
  return { socket, received, call };
}

test("an ended subscription gets nothing more, and a signature is announced once", async () => {
  const solana = await startTestSolana();
  const { socket, received, call } = await openSocket(solana.wsUrl);
  const { result: slots } = await call("slotSubscribe");
  const receiver = createWallet(solana).address;
  const paid = payTokens(solana, { to: receiver, units: 1n });
  await call("signatureSubscribe", paid, { commitment: "processed" });
  solana.control.nextSlot(2);
  assert.deepEqual(await call("slotUnsubscribe", slots), { jsonrpc: "2.0", id: 3, result: true });
  solana.control.nextSlot(2);
  const unknown = await call("slotUnsubscribe", slots);
  assert.equal(unknown.error?.code, -32_602);
  assert.equal((await call("getHealth")).result, "ok");
  const methods = received.flatMap((each) => each["method"] ?? []);
  assert.deepEqual(methods, ["signatureNotification", "slotNotification", "slotNotification"]);
  socket.close();
});

test("long messages arrive whole in both directions", async () => {
  const solana = await startTestSolana();
  const { socket, call } = await openSocket(solana.wsUrl);
  const keys = Array.from({ length: 100 }, () => usdc);
  const { result } = await call("getMultipleAccounts", keys, { encoding: "base64", commitment: "processed" });
  assert.equal((result as { value: unknown[] }).value.length, 100);
  const many = Array.from({ length: 2_000 }, () => usdc);
  assert.equal((await call("getMultipleAccounts", many)).error?.code, -32_602);
  socket.close();
});
