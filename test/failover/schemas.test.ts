import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import { sql } from "kysely";
import { HUB } from "../../src/dev/chains/contracts.ts";
import { DEV_ACCOUNTS, type DevAccount } from "../../src/dev/devAccounts.ts";
import { openDatabase, type Db } from "../../src/db/database.ts";
import { startTestChain, type TestChain } from "../support/chain.ts";
import { renderCli } from "../support/cli.ts";
import { createDatabaseOn, startOwnServer } from "../support/database.ts";
import { chooseFreePort } from "../support/freePort.ts";
import { addMerchant } from "../support/merchants.ts";
import { chainFields, openInstallation, type RunningService } from "../support/serviceInstallation.ts";

// Several installations on one server: two schemas of one database, and another database.

const KEY = DEV_ACCOUNTS.operator.privateKey;
const PRICE = 5_000_000n;
const SETTLE_MS_MAX = 60_000;

type Place = { url: string; schema?: string; account: DevAccount };
type Group = { db: Db; apiKey: string; baseUrl: string; service: RunningService; file: string };

describe("installations on one server", () => {
  let chain: TestChain;
  let one: Group;
  let two: Group;
  let other: Group;
  let sharedUrl: string;
  const closing = new AsyncDisposableStack();
  before(async () => {
    chain = await startTestChain({ hub: HUB });
    closing.defer(() => chain.stop());
    const server = await startOwnServer({ isDurable: true });
    closing.defer(() => server.remove());
    sharedUrl = await createDatabaseOn(server, "shared", "empty");
    const otherUrl = await createDatabaseOn(server, "other", "empty");
    const { operator, recoveryFirst, recoverySecond } = DEV_ACCOUNTS;
    one = await start({ url: sharedUrl, schema: "one", account: operator });
    two = await start({ url: sharedUrl, schema: "two", account: recoveryFirst });
    other = await start({ url: otherUrl, account: recoverySecond });
  });
  after(() => closing.disposeAsync());

  async function start({ url, schema, account }: Place): Promise<Group> {
    const installation = await openInstallation({
      chain,
      databaseUrl: url,
      port: await chooseFreePort(),
      config: { chains: [chainFields(chain, { pollMs: 100, settleAfterMs: 0 })] },
      variables: {
        TEST_GAS_KEY: account.privateKey,
        ...(schema === undefined ? {} : { TRIBUTARY_DATABASE_SCHEMA: schema }),
      },
    });
    closing.defer(() => installation.remove());
    const service = await installation.start();
    const db = await openDatabase({ url, schema, poolSizeMax: 2 });
    closing.defer(() => db.close());
    const wallet = `0x${"27".repeat(20)}`;
    const { apiKey } = await addMerchant(db, { chainReference: String(chain.chainId), wallet });
    return { db, apiKey, baseUrl: installation.baseUrl, service, file: installation.file };
  }

  async function call({ baseUrl, apiKey }: Group, path: string, init: RequestInit = {}) {
    const headers = {
      authorization: `Bearer ${apiKey}`,
      "service-version": "2026-11-01",
      "content-type": "application/json",
    };
    const response = await fetch(`${baseUrl}${path}`, { ...init, headers });
    return { status: response.status, body: (await response.json()) as Record<string, unknown> };
  }

  /** Creates and pays an intent, and returns it once its payout has landed. */
  async function paySettled(group: Group): Promise<string> {
    const init = { method: "POST", body: JSON.stringify({ priceUnits: Number(PRICE), oneTime: true }) };
    const { body } = await call(group, "/api/v1/intents", init);
    const intentId = String(body["intentId"]);
    await chain.pay(chain.usdc.address, body["inboxAddress"] as `0x${string}`, { amountUnits: PRICE });
    const deadline = performance.now() + SETTLE_MS_MAX;
    while (performance.now() < deadline) {
      await chain.mine(1);
      const { body: intent } = await call(group, `/api/v1/intents/${intentId}`);
      if ((intent["amounts"] as { settledUnits: string }).settledUnits === String(PRICE)) return intentId;
      await delay(100);
    }
    return assert.fail(`${intentId} has not settled: ${group.service.output()}`);
  }

  const intentsIn = async ({ db }: Group) =>
    (await db.root.selectFrom("intent").select("id").execute()).map(({ id }) => id);

  test("each settles its own payments and sees no other's", async () => {
    const [ofOne, ofTwo, ofOther] = [await paySettled(one), await paySettled(two), await paySettled(other)];
    assert.deepEqual(
      [await intentsIn(one), await intentsIn(two), await intentsIn(other)],
      [[ofOne], [ofTwo], [ofOther]],
    );
    assert.equal((await call(one, `/api/v1/intents/${ofTwo}`)).status, 404);
    assert.equal((await call({ ...one, apiKey: two.apiKey }, `/api/v1/intents/${ofTwo}`)).status, 401);
  });

  test("nothing stands outside the schemas", async () => {
    const { rows } = await sql<{ schema: string; objects: number }>`
      select nspname as schema, count(*)::int as objects from (
        select relnamespace as namespace from pg_class union all select pronamespace from pg_proc) as object
      join pg_namespace on pg_namespace.oid = namespace where nspname !~ '^pg_' and nspname <> 'information_schema'
      group by nspname order by nspname`.execute(one.db.root);
    const [first, second] = rows;
    assert.deepEqual(rows, [
      { schema: "one", objects: first?.objects },
      { schema: "two", objects: second?.objects },
    ]);
    assert.equal(first?.objects, second?.objects);
  });

  test("the locks of one do not hold up another, and kill -9 of one stops no other", async () => {
    await one.db.transaction(async (tx) => {
      // What a sequencer and a migration that hang would hold.
      await sql`select from database_epoch for update`.execute(tx);
      await paySettled(two);
      const { rows } = await sql<{ isNumbered: boolean }>`
        select not exists (select from event where sequence is null) as "isNumbered"`.execute(two.db.root);
      assert.equal(rows[0]?.isNumbered, true);
    });
    await one.service.kill();
    await paySettled(two);
    await paySettled(other);
  });

  test("commands with --config need no key that pays fees", async () => {
    const variables = { TRIBUTARY_DATABASE_URL: sharedUrl, TRIBUTARY_DATABASE_SCHEMA: "two" };
    const run = (...words: string[]) => renderCli([...words, "--config", two.file, "--json"], variables);
    const list = await run("intents", "list");
    assert.deepEqual(
      [list.code, (JSON.parse(list.out) as object[]).length],
      [0, (await intentsIn(two)).length],
      list.err,
    );
    const { err } = await run("accounts", "create", "Keyless");
    assert.equal(err, "");
    const findings = JSON.parse((await run("doctor")).out) as { what: string; verdict: string; found: string }[];
    assert.match(findings.find(({ what }) => what === "Local: gas")?.found ?? "", /^not checked: /);
    const upgrade = JSON.parse((await run("upgrade", "--check")).out) as { ok: boolean; migrations: string[] };
    assert.deepEqual([upgrade.ok, upgrade.migrations], [true, []]);
    assert.deepEqual([(await run("migrate")).code, (await run("serve", "--check")).code], [0, 2]);
  });

  test("a session that does not use the schema is refused", async () => {
    await assert.rejects(openDatabase({ url: sharedUrl, schema: "three" }), /there is no schema "three"/);
    const options = encodeURIComponent("-c search_path=two");
    await assert.rejects(
      openDatabase({ url: `${sharedUrl}&options=${options}`, schema: "one" }),
      /sessions use the schema "two" instead of "one"/,
    );
    const variables = { TRIBUTARY_DATABASE_URL: sharedUrl, TRIBUTARY_DATABASE_SCHEMA: "Pg_one", TEST_GAS_KEY: KEY };
    const { code, err } = await renderCli(["doctor", "--config", one.file], variables);
    assert.equal(code, 2);
    assert.match(err, /database\.schema/);
  });
});
