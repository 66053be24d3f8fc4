import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import { DEV_ACCOUNTS } from "../../src/cli/dev/accounts.ts";
import { HUB } from "../../src/cli/dev/contracts.ts";
import { findPort } from "../../src/cli/dev/port.ts";
import { openDatabase, type Db } from "../../src/db/database.ts";
import { migrate } from "../../src/db/migrate.ts";
import { startTestChain, type TestChain } from "../support/chain.ts";
import { addMerchant } from "../support/merchants.ts";
import { startPostgres, type PostgresServer } from "../support/postgres.ts";
import { openSite, type ServiceSite } from "../support/service.ts";

const KILLS = 10;
const INTENTS_A_ROUND = 3;
/** Each kill comes this much later than the one before it, so that together they sweep the way from payment to landing. */
const KILL_STEP_MS = 40;
const SETTLED_WITHIN_MS = 60_000;
const FEE_BPS = 50n;

type Expected = { intentId: string; inbox: `0x${string}`; wallet: `0x${string}`; paidUnits: bigint };

describe("kill -9", () => {
  let chain: TestChain;
  let server: PostgresServer;
  let db: Db;
  let site: ServiceSite;
  let apiKey: string;

  before(async () => {
    [chain, server] = await Promise.all([startTestChain({ hub: HUB }), startPostgres(undefined, { isDurable: true })]);
    const databaseUrl = server.urlOf("postgres");
    db = await openDatabase({ url: databaseUrl });
    await migrate(db, { appliedAt: new Date() });
    ({ apiKey } = await addMerchant(db, { feeBps: Number(FEE_BPS), chainReference: String(chain.chainId) }));
    site = await openSite({ chain, databaseUrl, port: await findPort("127.0.0.1", 0) });
  });
  after(async () => {
    await db.close();
    await Promise.all([chain.stop(), server.remove(), site.remove()]);
  });

  /** An intent with a wallet of its own, so that the chain itself says what it was paid. */
  async function create(index: number): Promise<Expected> {
    const wallet = `0x${(0xabcd_0000 + index).toString(16).padStart(40, "1")}` as const;
    const response = await fetch(`${site.baseUrl}/api/v1/intents`, {
      method: "POST",
      headers: {
        authorization: `Bearer ${apiKey}`,
        "service-version": "2026-11-01",
        "content-type": "application/json",
      },
      body: JSON.stringify({ payoutWallet: wallet, priceUnits: 1_000_000, oneTime: true }),
    });
    const body = (await response.json()) as { intentId: string; inboxAddress: `0x${string}` };
    assert.equal(response.status, 201, JSON.stringify(body));
    return { intentId: body.intentId, inbox: body.inboxAddress, wallet, paidUnits: 0n };
  }

  async function pay(intent: Expected, amountUnits: bigint): Promise<void> {
    await chain.pay(chain.usdc.address, intent.inbox, { amountUnits });
    intent.paidUnits += amountUnits;
  }

  async function unsettled(): Promise<number> {
    const rows = await db.read.selectFrom("intent").select(["received_units", "settled_units", "status"]).execute();
    return rows.filter((row) => row.status !== "settled" || row.settled_units !== row.received_units).length;
  }

  test(`${KILLS} kills at different moments: every payment is settled exactly once, nothing is lost`, async () => {
    const intents: Expected[] = [];
    for (let round = 0; round < KILLS; round += 1) {
      const running = await site.start();
      for (let index = 0; index < INTENTS_A_ROUND; index += 1) intents.push(await create(intents.length));
      const [first, second, third] = intents.slice(-INTENTS_A_ROUND);
      assert.ok(first && second && third);
      await pay(first, 1_000_000n);
      await pay(second, 400_000n);
      await delay(round * KILL_STEP_MS);
      await running.kill();
      // What arrives while nobody watches is found afterwards.
      await pay(second, 600_000n);
      await pay(third, 1_250_000n);
    }
    const running = await site.start();
    const deadline = performance.now() + SETTLED_WITHIN_MS;
    while ((await unsettled()) > 0 && performance.now() < deadline) await delay(100);
    assert.equal(await unsettled(), 0);
    assert.equal(await running.stop(), 0);

    let feeUnits = 0n;
    for (const intent of intents) {
      const feeOfEach = await db.read
        .selectFrom("settlement")
        .select(["fee_units", "net_units"])
        .where("intent_id", "=", intent.intentId)
        .where("status", "=", "landed")
        .execute();
      const fees = feeOfEach.reduce((sum, row) => sum + (row.fee_units ?? 0n), 0n);
      const nets = feeOfEach.reduce((sum, row) => sum + (row.net_units ?? 0n), 0n);
      assert.equal(fees + nets, intent.paidUnits);
      assert.equal(fees, (intent.paidUnits * FEE_BPS) / 10_000n);
      assert.equal(await chain.balanceOf(chain.usdc.address, intent.wallet), nets);
      assert.equal(await chain.balanceOf(chain.usdc.address, intent.inbox), 0n);
      feeUnits += fees;
    }
    assert.equal(await chain.balanceOf(chain.usdc.address, DEV_ACCOUNTS.feeRecipient.address), feeUnits);
    const payments = KILLS * (INTENTS_A_ROUND + 1);
    assert.equal(
      (await db.read.selectFrom("deposit").select("id").where("status", "=", "counted").execute()).length,
      payments,
    );
  });
});
