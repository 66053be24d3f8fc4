import assert from "node:assert/strict";
import { once } from "node:events";
import { readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { request } from "undici";
import { systemClock } from "../../src/kernel/clock.ts";
import type { DevManifest } from "../../src/dev/manifest.ts";
import { evmChains, solanaOf } from "../support/devWorld.ts";
import { descendantsOf, runCli, spawnCli, startDevProcess, temporaryFolder, type DevProcess } from "../support/cli.ts";
import { isDeepRun, onlyDeep } from "../support/runNumber.ts";

// One dev world that is kept: started as a person does and stopped (in the deep tests), started again for every command,
// and then killed.
// Its configured port is in use, so it must choose another.

const folder = temporaryFolder();
const home = { TRIBUTARY_HOME: folder.path };
const kept = join(folder.path, "world");
const squatter = createServer();
const POLLS_MAX = 2_400;
const POLL_MS = 50;

/** The output of the first start, and its manifest. */
const first = { said: "", exitCode: -1 as number | null, accounts: [] as DevManifest["accounts"] };
let dev: DevProcess;
let busyPort: number;

before(async () => {
  squatter.listen(0, "127.0.0.1");
  await once(squatter, "listening");
  const address = squatter.address();
  busyPort = typeof address === "object" && address !== null ? address.port : 0;
  if (isDeepRun) await startAndInterrupt();
  dev = await startDevProcess(["--keep", kept], { ...home, PORT: String(busyPort) });
});

async function startAndInterrupt(): Promise<void> {
  const child = spawnCli(["dev", "--keep", kept], { ...home, PORT: String(busyPort) });
  let isStopping = false;
  for (const stream of [child.stdout, child.stderr])
    stream?.on("data", (piece: Buffer) => {
      first.said += piece.toString();
      if (isStopping || !first.said.includes("Press Ctrl-C to stop.")) return;
      isStopping = true;
      first.accounts = readRunFile().ready.accounts;
      child.kill("SIGINT");
    });
  await once(child, "close");
  first.exitCode = child.exitCode;
}

/** The run file of the process that runs now, or of the last one. */
function runFile(): string {
  const names = readdirSync(folder.path).filter((name) => /^dev-\d+\.json$/.test(name));
  assert.equal(names.length, 1, names.join());
  return join(folder.path, names[0] ?? "");
}

function readRunFile(): { ready: DevManifest; socketPath: string } {
  return JSON.parse(readFileSync(runFile(), "utf8")) as { ready: DevManifest; socketPath: string };
}

after(() => {
  squatter.close();
  folder.remove();
  // Last, because `dev` is undefined when the start failed.
  dev.child.kill("SIGKILL");
});

test("without --json, dev prints its URL and commands to try, and stops on Ctrl-C", { skip: onlyDeep }, () => {
  const { said, exitCode } = first;
  assert.equal(exitCode, 0, said);
  const [, baseUrl = ""] = /^Tributary is ready at (\S+)$/m.exec(said) ?? [];
  assert.ok(said.split("\n").includes(`Documentation is at ${baseUrl}/docs`), said);
  assert.ok(said.includes(`A demo shop is at ${baseUrl}/demo: press Buy`), said);
  assert.match(said, /npx tributary pay pi_…/);
});

test("dev --keep restores the same world", { skip: onlyDeep }, () => {
  assert.equal(first.accounts.length, 2);
  assert.deepEqual(dev.ready.accounts, first.accounts);
});

test("dev --json prints the manifest in one line", () => {
  const { ready } = dev;
  assert.deepEqual(Object.keys(ready), ["baseUrl", "docsUrl", "accounts", "chains", "payer", "solana"]);
  assert.equal(ready.docsUrl, `${ready.baseUrl}/docs`);
  assert.equal(ready.accounts.length, 2);
  for (const account of ready.accounts) {
    assert.deepEqual(Object.keys(account), ["name", "accountId", "apiKey", "unscopedKey", "payoutWallet"]);
    assert.match(account.accountId, /^acct_[0-9a-z]{26}$/);
    for (const key of [account.apiKey, account.unscopedKey]) assert.match(key, /^trib_test_[0-9a-z]{16}_[0-9a-f]{64}$/);
  }
  assert.equal(ready.chains.length, 3);
  for (const chain of evmChains(dev)) {
    assert.equal(chain.caip2, `eip155:${chain.chainId}`);
    assert.deepEqual(
      chain.tokens.map(({ symbol, decimals }) => [symbol, decimals]),
      [
        ["USDC", 6],
        ["DUSD", 18],
      ],
    );
  }
  assert.match(ready.payer.privateKey, /^0x[0-9a-f]{64}$/);
  const { slug, caip2, tokens } = solanaOf(dev);
  assert.match(`${slug} ${caip2}`, /^dev-solana solana:\w{32}$/);
  assert.deepEqual(
    tokens.map(({ symbol, decimals }) => [symbol, decimals]),
    ["USDC", "USDT", "EURC", "DUSD"].map((symbol) => [symbol, 6]),
  );
});

test("dev listens on a free port when its port is in use, and reports it", async () => {
  assert.notEqual(dev.ready.baseUrl, `http://127.0.0.1:${busyPort}`);
  assert.match(dev.err(), new RegExp(`Port ${busyPort} is in use, so the dev world listens at ${dev.ready.baseUrl}`));
  const { statusCode } = await request(`${dev.ready.baseUrl}/readyz`);
  assert.equal(statusCode, 200);
});

test("every account has a default destination, and the key without scopes is rejected", async () => {
  const create = async (apiKey: string) => {
    const { statusCode, body } = await request(`${dev.ready.baseUrl}/api/v1/intents`, {
      method: "POST",
      headers: { authorization: `Bearer ${apiKey}`, "service-version": "2026-11-01" },
    });
    return {
      statusCode,
      value: (await body.json()) as { payout?: { wallet: string }; error?: { code: string; docs: string } },
    };
  };
  for (const { apiKey, unscopedKey, payoutWallet } of dev.ready.accounts) {
    const created = await create(apiKey);
    assert.deepEqual([created.statusCode, created.value.payout?.wallet], [201, payoutWallet]);
    const refused = await create(unscopedKey);
    assert.deepEqual([refused.statusCode, refused.value.error?.code], [403, "insufficient_scope"]);
    assert.equal(refused.value.error?.docs, `${dev.ready.docsUrl}/errors/insufficient_scope`);
  }
});

test("docsUrl serves the documentation", async () => {
  const { statusCode, headers } = await request(dev.ready.docsUrl);
  assert.deepEqual([statusCode, headers["content-type"]], [200, "text/html; charset=utf-8"]);
});

test("only this user can read the run file and open the socket", () => {
  assert.equal(statSync(folder.path).mode & 0o777, 0o700);
  assert.equal(statSync(runFile()).mode & 0o777, 0o600);
  const { ready, socketPath } = readRunFile();
  assert.deepEqual(ready, dev.ready);
  assert.equal(statSync(socketPath).mode & 0o777, 0o600);
});

test("commands use the running process", async () => {
  const wallet = "0x00000000000000000000000000000000000f00d5";
  const made = await runCli(["accounts", "create", "Third", "--chain", "dev-two", "--wallet", wallet, "--json"], home);
  assert.equal(made.code, 0, made.err);
  const { accountId, feeBps } = JSON.parse(made.out) as { accountId: string; feeBps: number };
  assert.equal(feeBps, 50);
  const key = (await runCli(["keys", "create", accountId], home)).out.trim();
  const headers = { authorization: `Bearer ${key}`, "service-version": "2026-11-01" };
  const list = async () => (await request(`${dev.ready.baseUrl}/api/v1/intents`, { headers })).statusCode;
  assert.equal(await list(), 200);
  assert.equal((await runCli(["keys", "revoke", key], home)).code, 0);
  assert.equal(await list(), 401);
  assert.match((await runCli(["accounts", "list"], home)).out, /^acct_\w+ +Third/m);
  const refused = await runCli(
    ["accounts", "create", "Bad", "--chain", "dev-two", "--wallet", wallet, "--fee-bps", "1001"],
    home,
  );
  assert.deepEqual([refused.code, refused.err], [2, "error: --fee-bps must be a whole number from 0 to 1000.\n"]);
});

test("demo runs its scenarios on the running world, and every check passes", async () => {
  const { code, out, err } = await runCli(["demo", "--json"], home);
  assert.equal(code, 0, err);
  const { ok, stories } = JSON.parse(out) as {
    ok: boolean;
    stories: { intentId: string; checks: { what: string; found: string; ok: boolean }[] }[];
  };
  assert.equal(ok, true);
  assert.equal(stories.length, 8);
  const foundIn = (story: number) =>
    Object.fromEntries(stories[story]?.checks.map((check) => [check.what, check.found]) ?? []);
  const found = foundIn(0);
  assert.equal(found["the payout wallet has grown by"], "24.875 USDC");
  assert.equal(found["the fee wallet has grown by"], "0.125 USDC");
  assert.equal(found["the inbox holds"], "0 USDC");
  const onSolana = foundIn(5);
  assert.equal(onSolana["the payout wallet has grown by"], "11.94 USDC");
  assert.equal(onSolana["the fee wallet has grown by"], "0.06 USDC");
  assert.equal(onSolana["the rent of its token account that came back is"], "0.00148844 SOL");
  assert.match(onSolana["the address that its terms give is"] ?? "", /^\w{32,44}$/);
  const fromSolana = foundIn(6);
  assert.equal(fromSolana["the payout wallet has grown by"], "13.93 USDC");
  assert.equal(fromSolana["its settlement has transactions on"], "solana, eip155");
  const toSolana = foundIn(7);
  assert.equal(toSolana["the payout wallet has grown by"], "15.92 USDC");
  assert.equal(toSolana["its settlement has transactions on"], "eip155, solana");
  const shown = await runCli(["intents", "show", stories[0]?.intentId ?? ""], home);
  assert.match(shown.out, /paid out +25 USDC = 24\.875 USDC net \+ 0\.125 USDC fee/);
  const { out: events } = await runCli(["events", "list", "--intent", stories[0]?.intentId ?? "", "--json"], home);
  const types = (JSON.parse(events) as { type: string }[]).map(({ type }) => type);
  for (const type of ["payment_intent.created", "deposit.counted", "payment_intent.settled", "settlement.landed"]) {
    assert.ok(types.includes(type), `${type} among ${types.join(", ")}`);
  }
});

test("pay waits until a deposit counts or is below the minimum, and sends the rest of the price", async () => {
  const [, account] = dev.ready.accounts;
  const { body } = await request(`${dev.ready.baseUrl}/api/v1/intents`, {
    method: "POST",
    headers: {
      authorization: `Bearer ${account?.apiKey}`,
      "service-version": "2026-11-01",
      "content-type": "application/json",
    },
    body: JSON.stringify({ priceUnits: 1_500_000, oneTime: true }),
  });
  const { intentId } = (await body.json()) as { intentId: string };
  // Above the time after which it is at rest, below the wait for a deposit that counts.
  const small = await runCli(["pay", intentId, "--amount", "0.001", "--timeout", "60"], home);
  assert.equal(small.code, 1, small.err);
  assert.match(small.err, /the deposit is below the minimum: it counts when more arrives/);
  const paid = await runCli(["pay", intentId, "--json"], home);
  assert.equal(paid.code, 0, paid.err);
  const result = JSON.parse(paid.out) as {
    txHash: string;
    deposit: { status: string };
    intent: { paymentStatus: string };
  };
  assert.deepEqual([result.deposit.status, result.intent.paymentStatus], ["counted", "paid"]);
  const page = await request(`${dev.ready.baseUrl}/dev/explorer/900002/tx/${result.txHash}`);
  assert.match(await page.body.text(), /1\.499 USDC/);
  const nothing = await runCli(["pay", intentId], home);
  assert.deepEqual([nothing.code, nothing.err], [2, "error: Nothing is left to pay: give the amount in --amount.\n"]);
});

test("doctor passes every check of the dev world but the single provider, and names each", async () => {
  const { code, out, err } = await runCli(["doctor", "--json"], home);
  assert.equal(code, 0, out + err);
  const findings = JSON.parse(out) as { what: string; verdict: string; found: string }[];
  for (const { what, verdict, found } of findings)
    assert.equal(verdict, found.includes("add a URL of another host") ? "warn" : "ok", `${what}: ${found}`);
  for (const what of [
    "Dev Chain Two: gas",
    "Dev Chain Two: gas price",
    "Dev Chain One: watched",
    "sums: counted deposits",
    "sums: landed settlements",
  ]) {
    assert.ok(
      findings.some((finding) => finding.what === what),
      what,
    );
  }
});

test("after SIGKILL its chains end, and commands ignore its run file", async () => {
  const children = await descendantsOf(dev.child.pid ?? 0);
  assert.ok(children.length >= 4, `two watchdogs and two chains, not ${children.length}`);
  dev.child.kill("SIGKILL");
  await dev.ended;
  const left = async () => (await descendantsOf(1)).filter((pid) => children.includes(pid));
  let remaining = await left();
  for (let poll = 0; poll < POLLS_MAX && remaining.length > 0; poll += 1) {
    await systemClock.sleep(POLL_MS);
    remaining = await left();
  }
  assert.deepEqual(remaining, []);
  const { code, err } = await runCli(["accounts", "list"], home);
  assert.equal(code, 1);
  assert.match(err, /No running process was found/);
});

test("dev --keep rejects chains that do not match its directory", { skip: onlyDeep }, async () => {
  const file = join(kept, "world.json");
  writeFileSync(file, readFileSync(file, "utf8").replace(/("eip155:900001": "0x)[0-9a-f]{4}/, "$10000"));
  const { code, err } = await runCli(["dev", "--keep", kept], { ...home, PORT: String(busyPort) });
  assert.equal(code, 1);
  assert.match(err, /has a state of another Dev Chain One .*: remove the directory/);
});
