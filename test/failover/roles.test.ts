import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import { DEV_ACCOUNTS } from "../../src/dev/devAccounts.ts";
import { HUB } from "../../src/dev/chains/contracts.ts";
import { openDatabase, type Db } from "../../src/db/database.ts";
import { startTestChain, type TestChain } from "../support/chain.ts";
import { renderCli } from "../support/cli.ts";
import { createDatabaseOn, startOwnServer } from "../support/database.ts";
import { chooseFreePort } from "../support/freePort.ts";
import { addMerchant } from "../support/merchants.ts";
import {
  chainFields,
  openInstallation,
  type RunningService,
  type ServiceInstallation,
} from "../support/serviceInstallation.ts";
import { onlyDeep } from "../support/runNumber.ts";

// Processes that do different things on one database, as on several machines.

const TAKEOVER_MS_MAX = 10_000;
const START_MS_MAX = 60_000;
const PRICE = 5_000_000n;

describe("processes with roles", () => {
  let chain: TestChain;
  let db: Db;
  let installation: ServiceInstallation;
  let merchant: { apiKey: string };
  const running = new Map<string, RunningService & { url: string }>();
  const closing = new AsyncDisposableStack();

  before(async () => {
    chain = await startTestChain({ hub: HUB });
    closing.defer(() => chain.stop());
    const server = await startOwnServer({ isDurable: true });
    closing.defer(() => server.remove());
    const databaseUrl = await createDatabaseOn(server, "service");
    db = await openDatabase({ url: databaseUrl });
    closing.defer(() => db.close());
    const wallet = `0x${"27".repeat(20)}`;
    merchant = await addMerchant(db, { feeBps: 0, chainReference: String(chain.chainId), wallet });
    const gasAccount = DEV_ACCOUNTS.operator.address;
    const config = { chains: [chainFields(chain, { gasAccount, pollMs: 100, settleAfterMs: 0 })] };
    installation = await openInstallation({ chain, databaseUrl, port: await chooseFreePort(), config });
    closing.defer(() => installation.remove());
  });
  after(() => closing.disposeAsync());

  async function start(roles: string): Promise<void> {
    const port = String(await chooseFreePort());
    const variables = { TRIBUTARY_PORT: port, ...(roles.includes("settle") ? {} : { TEST_GAS_KEY: undefined }) };
    const service = await installation.start({ arguments: ["--role", roles], variables });
    running.set(roles, { ...service, url: `http://127.0.0.1:${port}` });
  }
  const get = (roles: string) => running.get(roles) ?? assert.fail(`${roles} does not run`);

  async function call(path: string, init: RequestInit = {}): Promise<Record<string, unknown>> {
    const headers = {
      authorization: `Bearer ${merchant.apiKey}`,
      "service-version": "2026-11-01",
      "content-type": "application/json",
    };
    const response = await fetch(`${get("api").url}${path}`, { ...init, headers });
    return (await response.json()) as Record<string, unknown>;
  }

  /** Creates an intent, pays it, and returns the milliseconds until its payout has landed. */
  async function paySettled(msMax: number): Promise<number> {
    const body = JSON.stringify({ priceUnits: Number(PRICE), oneTime: true });
    const { intentId, inboxAddress } = await call("/api/v1/intents", { method: "POST", body });
    await chain.pay(chain.usdc.address, inboxAddress as `0x${string}`, { amountUnits: PRICE });
    const startedMs = performance.now();
    for (;;) {
      await chain.mine(1);
      const intent = await call(`/api/v1/intents/${String(intentId)}`);
      const elapsedMs = performance.now() - startedMs;
      if (intent["settledAt"] !== null && intent["settledAt"] !== undefined) {
        const { amounts } = intent as { amounts: { settledUnits: string } };
        if (amounts.settledUnits === String(PRICE)) return elapsedMs;
      }
      if (elapsedMs > msMax) return elapsedMs;
      await delay(100);
    }
  }

  const doctor = async () => {
    const { out } = await renderCli(["doctor", "--config", installation.file, "--json"], installation.environment);
    const findings = JSON.parse(out) as { what: string; verdict: string; found: string }[];
    return findings.filter(({ what }) => what.startsWith("role ")).map(({ what, found }) => `${what}: ${found}`);
  };

  test("each does its part, and those without the role settle need no key", async () => {
    for (const roles of ["api", "watch,settle", "watch,settle,deliver"]) await start(roles);
    assert.ok((await paySettled(START_MS_MAX)) < START_MS_MAX, get("watch,settle").output());
    assert.deepEqual(await doctor(), [
      "role api: in 1 process",
      "role watch: in 2 processes",
      "role settle: in 2 processes",
      "role deliver: in 1 process",
    ]);
  });

  test("without the role api a process serves its probes alone", async () => {
    const { url } = get("watch,settle");
    assert.equal((await fetch(`${url}/healthz`)).status, 200);
    assert.equal((await fetch(`${url}/readyz`)).status, 200);
    const headers = { authorization: `Bearer ${merchant.apiKey}`, "service-version": "2026-11-01" };
    assert.equal((await fetch(`${url}/api/v1/intents`, { headers })).status, 404);
    assert.equal((await fetch(`${url}/docs`)).status, 404);
  });

  test("after kill -9 of one, another with its roles takes over within ten seconds", async () => {
    await get("watch,settle,deliver").kill();
    assert.ok((await paySettled(TAKEOVER_MS_MAX)) < TAKEOVER_MS_MAX, get("watch,settle").output());
  });

  test("a role that nobody has is an alarm, and doctor names it", { skip: onlyDeep }, async () => {
    const deadline = performance.now() + START_MS_MAX;
    const missing = async () => {
      const { out } = await renderCli(["status", "--config", installation.file, "--json"], installation.environment);
      const { alarms } = JSON.parse(out) as { alarms: { alarm: string; subject: string }[] };
      return alarms.filter(({ alarm }) => alarm === "role_missing").map(({ subject }) => subject);
    };
    while ((await missing()).length === 0 && performance.now() < deadline) await delay(200);
    assert.deepEqual(await missing(), ["deliver"]);
    assert.equal((await doctor()).at(-1), "role deliver: no process has it");
  });

  test("an unknown role and a missing address stop the start", async () => {
    const variables = { ...installation.environment, TEST_GAS_KEY: "" };
    const unknown = await renderCli(["serve", "--config", installation.file, "--role", "api,setle"], variables);
    assert.equal(unknown.code, 2);
    assert.match(unknown.err, /--role: "setle" is no role; did you mean settle\?/);
  });
});
