import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { after, before, describe, test } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import { sql } from "kysely";
import { findPort } from "../../src/dev/findPort.ts";
import { openChaosContext, type ChaosContext } from "../chaos/runKills.ts";
import { MerchantClients } from "../chaos/merchants.ts";
import { SeededRandom } from "../chaos/seededRandom.ts";
import { openInstallation, type InstallationOptions } from "../support/serviceInstallation.ts";
import { openBlockingProxy } from "./blockingProxy.ts";

// How the real service ends: by itself when nothing can be trusted any more, in order when it is told to.

const POLLS_MAX = 1_200;
const POLL_MS = 50;

describe("the end of a service", () => {
  let chaos: ChaosContext;
  before(async () => {
    chaos = await openChaosContext();
  });
  after(() => chaos.close());

  const newSite = async (options: Omit<InstallationOptions, "port">) =>
    openInstallation({ ...options, port: await findPort("127.0.0.1", 0) });

  /** An intent of a merchant who asks at `baseUrl`, paid on the chain. */
  async function payNewIntent(baseUrl: string): Promise<void> {
    const merchants = new MerchantClients(baseUrl, new SeededRandom(1));
    const [merchant] = chaos.merchants;
    assert.ok(merchant);
    await merchants.create(merchant);
    const [intent] = merchants.acknowledged;
    assert.ok(intent, JSON.stringify(merchants.counts));
    await chaos.chain.pay(chaos.chain.usdc.address, intent.inbox, { amountUnits: 1_000n });
  }

  async function until(what: string, isSo: () => boolean | Promise<boolean>): Promise<void> {
    for (let looks = 0; looks < POLLS_MAX; looks += 1) {
      if (await isSo()) return;
      await delay(POLL_MS);
    }
    throw new Error(`never ${what}`);
  }

  test("J96 an embedded database that breaks down ends the process with 70, and the next start goes on", async (context) => {
    const directory = await mkdtemp(join(tmpdir(), "tributary-ends-"));
    const preload = { NODE_OPTIONS: `--import=${new URL("breakEmbedded.ts", import.meta.url).href}` };
    const site = await newSite({ chain: chaos.chain, config: { database: { directory } }, variables: preload });
    context.after(async () => {
      await site.remove();
      await rm(directory, { recursive: true, force: true });
    });
    const running = await site.start();
    process.kill(running.pid, "SIGUSR2");
    assert.equal(await running.waitForExit(), 70);
    assert.match(running.output(), /fatal error, process exits/);
    const next = await site.start();
    assert.equal(await next.stop(), 0);
  });

  test("K100 told to end in the middle of a settlement it takes no further nonce, and the next start settles", async (context) => {
    const { chain, db, databaseUrl } = chaos;
    const proxy = await openBlockingProxy(chain.rpcUrl, "eth_estimateGas");
    const site = await newSite({
      chain: { ...chain, rpcUrl: proxy.url },
      databaseUrl,
      config: { logLevel: "info" },
    });
    context.after(async () => {
      await proxy.close();
      await site.remove();
    });
    const running = await site.start();
    await payNewIntent(site.baseUrl);
    await proxy.blocked;
    const stopped = running.stop();
    await until("told to end", () => running.output().includes("draining"));
    proxy.release();
    assert.equal(await stopped, 0);
    const sendings = () => db.root.selectFrom("outgoing_transaction").select("status").execute();
    assert.deepEqual(await sendings(), []);
    const next = await site.start();
    await until("settled", async () => {
      const row = await db.root.selectFrom("settlement").select("status").executeTakeFirst();
      return row?.status === "landed";
    });
    assert.equal(await next.stop(), 0);
    assert.equal((await sendings()).length, 1);
  });

  test("J96 rows that contradict the program's own reasoning end the process with 70", async (context) => {
    const { chain, db, databaseUrl } = chaos;
    const site = await newSite({ chain, databaseUrl });
    context.after(() => site.remove());
    const running = await site.start();
    await sql`create function swallow() returns trigger language plpgsql as 'begin return null; end'`.execute(db.root);
    await sql`create trigger swallow before update on gas_account for each row execute function swallow()`.execute(
      db.root,
    );
    await payNewIntent(site.baseUrl);
    assert.equal(await running.waitForExit(), 70);
    assert.match(running.output(), /is not registered/);
    await sql`drop trigger swallow on gas_account`.execute(db.root);
  });
});
