import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import type { Hex } from "viem";
import { HUB } from "../../src/dev/chains/contracts.ts";
import { chooseFreePort } from "../support/freePort.ts";
import { openDatabase } from "../../src/db/database.ts";
import { openBlockingProxy } from "../crash/blockingProxy.ts";
import { runCli } from "../support/cli.ts";
import { startTestChain, type TestChain } from "../support/chain.ts";
import { addMerchant } from "../support/merchants.ts";
import { createDatabaseOn, startOwnServer } from "../support/database.ts";
import { openInstallation, type ServiceInstallation } from "../support/serviceInstallation.ts";

// Three days without the service, while payers keep paying.

const DEPOSITS = 6;
const BLOCKS_BETWEEN = 240;
/** All blocks together span 72 hours. */
const BLOCK_SECONDS = (72 * 3_600) / (DEPOSITS * BLOCKS_BETWEEN);
const AMOUNT = 3_000_000n;
const ROUNDS_MAX = 150;

type CreatedIntent = { intentId: string; inboxAddress: Hex };
type CallService = (path: string, body?: object) => Promise<unknown>;

test("after a 72-hour outage the service answers and reports its progress while it finds every deposit once", async (t) => {
  const { chain, apiKey, openService } = await openOutageContext(t);
  const before = await openService(chain.rpcUrl);
  const first = await before.start();
  const intents = await createIntents(createCaller(before, apiKey));
  assert.equal(await first.stop(), 0);
  await mineOutage(chain, intents);

  const provider = await openBlockingProxy(chain.rpcUrl, "eth_getLogs");
  t.after(() => provider.close());
  const after = await openService(provider.url);
  const callService = createCaller(after, apiKey);
  const second = await after.start();
  await provider.blocked;
  assert.deepEqual(
    await readDeposits(callService, intents),
    intents.map(() => []),
  );
  const doctor = await runCli(["doctor", "--config", after.file], after.environment);
  assert.match(doctor.out, /Local: watched .*, scanned to block \d+, 1[45]\d\d blocks behind/, doctor.err);
  provider.release();

  await untilReceived(callService);
  assert.deepEqual(
    await readDeposits(callService, intents),
    intents.map(() => [String(AMOUNT)]),
  );
  assert.equal(await second.stop(), 0);
});

async function openOutageContext(t: TestContext) {
  const [chain, server] = await Promise.all([startTestChain({ hub: HUB }), startOwnServer({ isDurable: true })]);
  t.after(() => Promise.all([chain.stop(), server.remove()]));
  const databaseUrl = await createDatabaseOn(server, "service");
  const db = await openDatabase({ url: databaseUrl });
  const { apiKey } = await addMerchant(db, { chainReference: String(chain.chainId) });
  await db.close();
  const openService = async (rpcUrl: string) => {
    const port = await chooseFreePort();
    const site = await openInstallation({ chain: { ...chain, rpcUrl }, databaseUrl, port });
    t.after(() => site.remove());
    return site;
  };
  return { chain, apiKey, openService };
}

function createCaller(site: ServiceInstallation, apiKey: string): CallService {
  return async (path, body) => {
    const response = await fetch(`${site.baseUrl}/api/v1/intents${path}`, {
      headers: {
        authorization: `Bearer ${apiKey}`,
        "service-version": "2026-11-01",
        ...(body === undefined ? {} : { "content-type": "application/json" }),
      },
      ...(body === undefined ? {} : { method: "POST", body: JSON.stringify(body) }),
    });
    const answer = await response.json();
    assert.ok(response.ok, JSON.stringify(answer));
    return answer;
  };
}

async function createIntents(callService: CallService): Promise<CreatedIntent[]> {
  const intents: CreatedIntent[] = [];
  for (let index = 0; index < DEPOSITS; index += 1) {
    const payoutWallet = `0x${(index + 1).toString(16).padStart(40, "3")}`;
    intents.push((await callService("", { merchantReference: `order ${index}`, payoutWallet })) as CreatedIntent);
  }
  return intents;
}

async function mineOutage(chain: TestChain, intents: readonly CreatedIntent[]): Promise<void> {
  for (const { inboxAddress } of intents) {
    await chain.client.mine({ blocks: BLOCKS_BETWEEN, interval: BLOCK_SECONDS });
    await chain.pay(chain.usdc.address, inboxAddress, { amountUnits: AMOUNT });
  }
}

/** Polls slowly enough to stay below the rate limits. */
async function untilReceived(callService: CallService): Promise<void> {
  for (let round = 0; round < ROUNDS_MAX; round += 1) {
    const { data } = (await callService("")) as { data: { amounts: { receivedUnits: string } }[] };
    if (data.length > 0 && data.every(({ amounts }) => amounts.receivedUnits !== "0")) return;
    await delay(1_000);
  }
}

/** Returns the amounts of each intent's deposits. */
async function readDeposits(callService: CallService, intents: readonly CreatedIntent[]): Promise<string[][]> {
  const lists = await Promise.all(intents.map(({ intentId }) => callService(`/${intentId}/deposits`)));
  return lists.map((list) => (list as { data: { amountUnits: string }[] }).data.map(({ amountUnits }) => amountUnits));
}
