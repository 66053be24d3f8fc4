import assert from "node:assert/strict";
import { Agent, get } from "node:http";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { after, before, describe, test } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import { sql } from "kysely";
import { chooseFreePort } from "../support/freePort.ts";
import { openChaosContext, type ChaosContext } from "../chaos/runKills.ts";
import { MerchantClients } from "../chaos/merchants.ts";
import { SeededRandom } from "../chaos/seededRandom.ts";
import { openInstallation, type InstallationOptions } from "../support/serviceInstallation.ts";
import { openBlockingProxy } from "./blockingProxy.ts";
import { onlyDeep } from "../support/runNumber.ts";

// How the real service ends: by itself after a fatal error, in order on SIGTERM.

const POLLS_MAX = 1_200;
const POLL_MS = 50;

/** Busy connections that are reused, as a proxy does. */
const CONNECTIONS = 24;

/** Calls on one connection, as soon as the last call is answered, until a response closes it. Rejects with a reset. */
function callUntilClosed(baseUrl: string, agent: Agent): { first: Promise<unknown>; last: Promise<unknown> } {
  const first = Promise.withResolvers<undefined>();
  const last = Promise.withResolvers<undefined>();
  const callOnce = () => {
    const request = get(`${baseUrl}/readyz`, { agent }, (response) => {
      first.resolve(undefined);
      const isClosing = response.headers.connection === "close";
      response.once("end", () => (isClosing ? last.resolve(undefined) : callOnce())).resume();
    });
    request.once("error", last.reject);
  };
  callOnce();
  return { first: first.promise, last: last.promise };
}

describe("shutdown of the service", () => {
  let chaos: ChaosContext;
  before(async () => {
    chaos = await openChaosContext();
  });
  after(() => chaos.close());

  const newSite = async (options: Omit<InstallationOptions, "port">) =>
    openInstallation({ ...options, port: await chooseFreePort() });

  /** Creates an intent at `baseUrl` and pays it on the chain. */
  async function payNewIntent(baseUrl: string): Promise<void> {
    const merchants = new MerchantClients(baseUrl, new SeededRandom(1));
    const [merchant] = chaos.merchants;
    assert.ok(merchant);
    await merchants.create(merchant);
    const [intent] = merchants.acknowledged;
    assert.ok(intent, JSON.stringify(merchants.counts));
    await chaos.chain.pay(chaos.chain.usdc.address, intent.inbox, { amountUnits: 1_000n });
  }

  async function until(label: string, isSo: () => boolean | Promise<boolean>): Promise<void> {
    for (let looks = 0; looks < POLLS_MAX; looks += 1) {
      if (await isSo()) return;
      await delay(POLL_MS);
    }
    throw new Error(`never ${label}`);
  }

  test(
    "an embedded database whose engine breaks ends the process with 70, and the next start succeeds",
    { skip: onlyDeep },
    async (context) => {
      const directory = await mkdtemp(join(tmpdir(), "tributary-ends-"));
      const preload = { NODE_OPTIONS: `--import=${new URL("breakEmbedded.ts", import.meta.url).href}` };
      const installation = await newSite({
        chain: chaos.chain,
        config: { database: { directory } },
        variables: preload,
      });
      context.after(async () => {
        await installation.remove();
        await rm(directory, { recursive: true, force: true });
      });
      const running = await installation.start();
      process.kill(running.pid, "SIGUSR2");
      assert.equal(await running.waitForExit(), 70);
      assert.match(running.output(), /fatal error, process exits/);
      const next = await installation.start();
      assert.equal(await next.stop(), 0);
    },
  );

  test("SIGTERM during a settlement reserves no further nonce, and the next start settles", async (context) => {
    const { chain, db, databaseUrl } = chaos;
    const proxy = await openBlockingProxy(chain.rpcUrl, "eth_estimateGas");
    const installation = await newSite({
      chain: { ...chain, rpcUrl: proxy.url },
      databaseUrl,
      config: { logLevel: "info" },
    });
    context.after(async () => {
      await proxy.close();
      await installation.remove();
    });
    const running = await installation.start();
    await payNewIntent(installation.baseUrl);
    await proxy.blocked;
    const stopped = running.stop();
    await until("draining", () => running.output().includes("draining"));
    proxy.release();
    assert.equal(await stopped, 0);
    const outgoingStatuses = () => db.root.selectFrom("outgoing_transaction").select("status").execute();
    assert.deepEqual(await outgoingStatuses(), []);
    const next = await installation.start();
    await until("settled", async () => {
      const row = await db.root.selectFrom("settlement").select("status").executeTakeFirst();
      return row?.status === "landed";
    });
    assert.equal(await next.stop(), 0);
    assert.equal((await outgoingStatuses()).length, 1);
  });

  test("SIGTERM resets no request, and SIGHUP ends nothing", async (context) => {
    const { chain, databaseUrl } = chaos;
    const installation = await newSite({ chain, databaseUrl, config: { leaveMs: 1_000 } });
    context.after(() => installation.remove());
    const running = await installation.start();
    process.kill(running.pid, "SIGHUP");
    const agent = new Agent({ keepAlive: true, maxSockets: CONNECTIONS });
    context.after(() => agent.destroy());
    const callers = Array.from({ length: CONNECTIONS }, () => callUntilClosed(installation.baseUrl, agent));
    await Promise.all(callers.map(({ first }) => first));
    const stopped = running.stop();
    await Promise.all(callers.map(({ last }) => last));
    const statusOf = async (path: string) => (await fetch(`${installation.baseUrl}${path}`)).status;
    assert.deepEqual(await Promise.all(["/readyz", "/healthz"].map(statusOf)), [503, 200]);
    assert.equal(await stopped, 0);
  });

  test("rows that break an invariant of the program end the process with 70", { skip: onlyDeep }, async (context) => {
    const { chain, db, databaseUrl } = chaos;
    const installation = await newSite({ chain, databaseUrl });
    context.after(() => installation.remove());
    const running = await installation.start();
    await sql`create function swallow() returns trigger language plpgsql as 'begin return null; end'`.execute(db.root);
    await sql`create trigger swallow before update on gas_account for each row execute function swallow()`.execute(
      db.root,
    );
    await payNewIntent(installation.baseUrl);
    assert.equal(await running.waitForExit(), 70);
    assert.match(running.output(), /is not registered/);
    await sql`drop trigger swallow on gas_account`.execute(db.root);
  });
});
