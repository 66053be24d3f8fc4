import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import type { TestContext } from "node:test";
import { createTestClient, http, publicActions, toHex } from "viem";
import { systemClock } from "../../kernel/clock.ts";
import { startAnvil } from "./anvil.ts";
import type { Anvil } from "./anvil.ts";

const CHAIN_ID = 31_337;
const ACCOUNT_ADDRESS = "0x00000000000000000000000000000000000f00d5";
const POLLS_MAX = 4_800;
const POLL_MS = 25;

function clientOf(anvil: Anvil) {
  return createTestClient({ mode: "anvil", transport: http(anvil.rpcUrl) }).extend(publicActions);
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    // A zombie that init has not yet reaped counts as ended.
    return process.platform !== "linux" || !/^State:\s*Z/m.test(readFileSync(`/proc/${pid}/status`, "utf8"));
  } catch {
    return false;
  }
}

async function waitUntilExited(pid: number): Promise<boolean> {
  for (let poll = 0; poll < POLLS_MAX; poll += 1) {
    if (!isRunning(pid)) return true;
    await systemClock.sleep(POLL_MS);
  }
  return false;
}

/** Starts a process that starts a chain and then waits to be killed. */
async function startParent(options: object): Promise<{ pid: number; anvil: Anvil; ended: Promise<unknown> }> {
  const script = `
    import { startAnvil } from ${JSON.stringify(new URL("anvil.ts", import.meta.url).href)};
    console.log(JSON.stringify(await startAnvil(${JSON.stringify(options)})));
    process.stdin.resume();
  `;
  const parent = spawn(process.execPath, ["--input-type=module", "--eval", script], {
    stdio: ["pipe", "pipe", "inherit"],
    detached: true,
  });
  const ended = once(parent, "exit");
  const [line] = (await once(parent.stdout, "data")) as [Buffer];
  assert.ok(parent.pid !== undefined);
  return { pid: parent.pid, anvil: JSON.parse(line.toString()) as Anvil, ended };
}

function temporaryDirectory(t: TestContext): string {
  const directory = mkdtempSync(join(tmpdir(), "tributary-anvil-"));
  t.after(() => rmSync(directory, { recursive: true, force: true }));
  return directory;
}

test("a chain answers with its id on a free port, and ends with stop", async (t) => {
  const [one, other] = await Promise.all([startAnvil({ chainId: CHAIN_ID }), startAnvil({ chainId: 900_002 })]);
  t.after(() => Promise.all([one.stop(), other.stop()]));
  assert.notEqual(one.rpcUrl, other.rpcUrl);
  assert.equal(await clientOf(one).getChainId(), CHAIN_ID);
  assert.equal(await clientOf(other).getChainId(), 900_002);
  await Promise.all([one.stop(), one.stop()]);
  assert.equal(isRunning(one.pid), false);
  assert.equal(isRunning(one.watchdogPid), false);
  assert.equal(isRunning(other.pid), true);
});

test("a port in use fails with anvil's own message", async (t) => {
  const first = await startAnvil({ chainId: CHAIN_ID });
  t.after(() => first.stop());
  const port = Number(new URL(first.rpcUrl).port);
  await assert.rejects(startAnvil({ chainId: CHAIN_ID, port }), /anvil did not start: .*Address already in use/s);
});

test("anvil ends when its parent is killed", async (t) => {
  const parent = await startParent({ chainId: CHAIN_ID });
  t.after(() => isRunning(parent.anvil.pid) && process.kill(parent.anvil.pid, "SIGKILL"));
  assert.equal(isRunning(parent.anvil.pid), true);
  process.kill(parent.pid, "SIGKILL");
  await parent.ended;
  assert.equal(await waitUntilExited(parent.anvil.pid), true);
  assert.equal(await waitUntilExited(parent.anvil.watchdogPid), true);
});

test("anvil ends when its watchdog is killed, also together with its parent", async (t) => {
  const anvil = await startAnvil({ chainId: CHAIN_ID });
  t.after(() => anvil.stop());
  process.kill(anvil.watchdogPid, "SIGKILL");
  await anvil.stopped;
  assert.equal(await waitUntilExited(anvil.pid), true);

  if (process.platform !== "linux") return;
  const parent = await startParent({ chainId: CHAIN_ID });
  t.after(() => isRunning(parent.anvil.pid) && process.kill(parent.anvil.pid, "SIGKILL"));
  // No process is left to remove anvil's scratch folder. Its path is the last argument of anvil.
  const scratch = readFileSync(`/proc/${parent.anvil.pid}/cmdline`, "utf8").split("\0").at(-2) ?? "";
  t.after(() => rmSync(scratch, { recursive: true }));
  process.kill(parent.anvil.watchdogPid, "SIGSTOP");
  process.kill(parent.pid, "SIGKILL");
  process.kill(parent.anvil.watchdogPid, "SIGKILL");
  assert.equal(await waitUntilExited(parent.anvil.pid), true);
});

test("Ctrl-C reaches only the parent's process group, and the parent stops anvil", async (t) => {
  const parent = await startParent({ chainId: CHAIN_ID });
  t.after(() => isRunning(parent.anvil.pid) && process.kill(parent.anvil.pid, "SIGKILL"));
  // A stopped parent cannot end anvil, so anvil would only end here through the signal itself.
  process.kill(parent.pid, "SIGSTOP");
  process.kill(-parent.pid, "SIGINT");
  assert.equal(await clientOf(parent.anvil).getChainId(), CHAIN_ID);
  process.kill(parent.pid, "SIGCONT");
  await parent.ended;
  assert.equal(await waitUntilExited(parent.anvil.pid), true);
});

test("a stored chain resumes with its history", async (t) => {
  const stateDirectory = temporaryDirectory(t);
  const first = await startAnvil({ chainId: CHAIN_ID, stateDirectory });
  await clientOf(first).setBalance({ address: ACCOUNT_ADDRESS, value: 7n });
  await clientOf(first).mine({ blocks: 3 });
  const block = await clientOf(first).getBlock({ blockNumber: 2n });
  await first.stop();

  const second = await startAnvil({ chainId: CHAIN_ID, stateDirectory });
  t.after(() => second.stop());
  assert.equal(second.genesisHash, first.genesisHash);
  assert.equal((await clientOf(second).getBlock({ blockTag: "finalized" })).number, 3n);
  assert.equal(await clientOf(second).getBalance({ address: ACCOUNT_ADDRESS, blockTag: "finalized" }), 7n);
  assert.deepEqual(await clientOf(second).getBlock({ blockNumber: 2n }), block);
  assert.equal(await clientOf(second).getBalance({ address: ACCOUNT_ADDRESS }), 7n);
});

test("a stored chain survives the kill of its parent, and the next start waits until its state is written", async (t) => {
  const stateDirectory = temporaryDirectory(t);
  const parent = await startParent({ chainId: CHAIN_ID, stateDirectory });
  await clientOf(parent.anvil).mine({ blocks: 300 });
  process.kill(parent.pid, "SIGKILL");
  const second = await startAnvil({ chainId: CHAIN_ID, stateDirectory });
  t.after(() => second.stop());
  assert.equal((await clientOf(second).getBlock({ blockTag: "finalized" })).number, 300n);
  assert.equal(isRunning(parent.anvil.pid), false);
});

test("a directory of another chain is rejected in one sentence", async (t) => {
  const stateDirectory = temporaryDirectory(t);
  const first = await startAnvil({ chainId: CHAIN_ID, stateDirectory });
  await first.stop();
  await assert.rejects(
    startAnvil({ chainId: 5, stateDirectory }),
    /belongs to the chain .*31337.*, but anvil has loaded .*5/,
  );
  const path = join(stateDirectory, "genesis.json");
  writeFileSync(path, readFileSync(path, "utf8").replace(first.genesisHash, `0x${"00".repeat(32)}`));
  await assert.rejects(
    startAnvil({ chainId: CHAIN_ID, stateDirectory }),
    /belongs to the chain .*0x0000.*, but anvil has loaded/,
  );
});

test("with a block interval, a transaction is still mined at once", async (t) => {
  const anvil = await startAnvil({ chainId: CHAIN_ID, blockTimeSeconds: 3_600, slotsInAnEpoch: 1 });
  t.after(() => anvil.stop());
  const client = clientOf(anvil);
  await client.setBalance({ address: ACCOUNT_ADDRESS, value: 10n ** 18n });
  await client.impersonateAccount({ address: ACCOUNT_ADDRESS });
  const hash = await client.request<{ Method: "eth_sendTransaction"; Parameters: [object]; ReturnType: `0x${string}` }>(
    {
      method: "eth_sendTransaction",
      params: [{ from: ACCOUNT_ADDRESS, to: ACCOUNT_ADDRESS, value: toHex(1n) }],
    },
  );
  assert.equal((await client.waitForTransactionReceipt({ hash })).status, "success");
});
