import assert from "node:assert/strict";
import { appendFileSync, cpSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { callRpc, createWallet, payTokens } from "../../../test/support/solana.ts";
import { systemClock } from "../../../src/kernel/clock.ts";
import { LOCAL_MINTS } from "../src/fixtures.ts";
import { findTokenAccount } from "../src/instructions.ts";
import { startLocalSolana } from "../src/startLocalSolana.ts";
import type { LocalSolana } from "../src/startLocalSolana.ts";

const folder = mkdtempSync(join(tmpdir(), "tributary-solana-"));
after(() => rmSync(folder, { recursive: true, force: true }));

async function start(directory: string, name = "stored"): Promise<LocalSolana> {
  const options = { clock: systemClock, slotMs: 0, finalizedAfter: 4, stateDirectory: directory, name };
  const solana = await startLocalSolana(options);
  after(() => solana.stop());
  return solana;
}

/** All that clients can learn about the history of an account. */
async function describe(solana: LocalSolana, owner: string) {
  const account = findTokenAccount({ owner, mint: LOCAL_MINTS.USDC.address });
  const resultOf = async (method: string, ...params: readonly unknown[]) =>
    (await callRpc(solana, method, ...params)).result;
  const confirmed = { commitment: "confirmed" };
  const signatures = (await resultOf("getSignaturesForAddress", account, confirmed)) as { signature: string }[];
  const transactions = [];
  for (const { signature } of signatures) transactions.push(await resultOf("getTransaction", signature, confirmed));
  const slots = (await resultOf("getBlocks", 1_000, confirmed)) as number[];
  const blocks = [];
  for (const slot of slots) blocks.push(await resultOf("getBlock", slot, { ...confirmed, transactionDetails: "none" }));
  const balances = [];
  for (const commitment of ["processed", "confirmed", "finalized"])
    balances.push(await resultOf("getTokenAccountBalance", account, { commitment }));
  const hash = await resultOf("getLatestBlockhash", { commitment: "processed" });
  return { signatures, transactions, blocks, balances, hash, slot: solana.control.slot };
}

/**
 * Payments, a skipped slot, a fork with a transaction that lands again, a changed time and an account that appears from
 * nowhere.
 */
function act(solana: LocalSolana, owner: string): void {
  const { control } = solana;
  payTokens(solana, { to: owner, units: 1n });
  control.nextSlot(2);
  control.skip(2);
  control.setTime(1_900_000_000);
  payTokens(solana, { to: owner, units: 2n });
  const kept = payTokens(solana, { to: owner, units: 4n });
  control.fork(1, { keep: [kept] });
  control.nextSlot(3);
  const stored = control.account(owner);
  control.setAccount(owner, { owner: stored?.owner ?? "", data: new Uint8Array(0), lamports: 77n });
  payTokens(solana, { to: owner, units: 8n });
}

test("a stopped chain goes on where it was", async () => {
  const directory = join(folder, "stopped");
  const first = await start(directory);
  const owner = createWallet(first).address;
  act(first, owner);
  const before = await describe(first, owner);
  await first.stop();
  const second = await start(directory);
  assert.deepEqual(await describe(second, owner), before);
  assert.equal(second.control.account(owner)?.lamports, 77n);
  second.control.fork(2);
  second.control.nextSlot(9);
  payTokens(second, { to: owner, units: 16n });
  assert.equal(second.control.units(findTokenAccount({ owner, mint: LOCAL_MINTS.USDC.address })), 21n);
  await second.stop();
});

test("a killed chain goes on where it was, whatever it was writing", async () => {
  const directory = join(folder, "running");
  const running = await start(directory);
  const owner = createWallet(running).address;
  act(running, owner);
  const before = await describe(running, owner);
  const killed = join(folder, "killed");
  cpSync(directory, killed, { recursive: true });
  await running.stop();
  for (const file of readdirSync(killed))
    if (file.startsWith("journal")) appendFileSync(join(killed, file), "half a l");
  const restored = await start(killed);
  assert.deepEqual(await describe(restored, owner), before);
  await restored.stop();
});

test("the directory of another chain is refused", async () => {
  const directory = join(folder, "other");
  await (await start(directory)).stop();
  await assert.rejects(start(directory, "another"), /the stored chain is /);
});
