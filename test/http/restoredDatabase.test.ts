import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import pg from "pg";
import { buildCatalog } from "../../src/catalog/catalog.ts";
import { openDatabase, type Db } from "../../src/db/database.ts";
import { storeConfiguredLoop } from "../../src/loops/storeConfiguredLoop.ts";
import { openTestApi, type Merchant, type TestApi } from "../support/api.ts";
import { bridgedChains } from "../support/bridgedConfig.ts";
import { createDatabaseOn, startOwnServer } from "../support/database.ts";
import { stationWorld } from "../support/stationWorld.ts";
import type { PostgresServer } from "../support/postgres.ts";

const URL = "/api/v1/intents";

describe("the database is restored to an earlier state under a running service", () => {
  let server: PostgresServer;
  let db: Db;
  let api: TestApi;
  let merchant: Merchant;
  let admin: pg.Client;
  before(async () => {
    server = await startOwnServer({ isDurable: true });
    db = await openDatabase({ url: await createDatabaseOn(server, "service") });
    const config = { ...stationWorld(db).config, chains: bridgedChains() };
    api = await openTestApi(db, { config, catalog: buildCatalog(config) });
    merchant = await api.openMerchant();
    admin = new pg.Client(server.urlOf("postgres"));
    await admin.connect();
  });
  after(async () => {
    await admin.end();
    await api.server.close();
    await db.close();
    await server.remove();
  });

  /** Copies the service's database, which may have no session meanwhile: the service opens new ones at any time. */
  async function keepState(name: string): Promise<void> {
    await admin.query("alter database service allow_connections false");
    await admin.query(
      "select pg_terminate_backend(pid, 5000) from pg_stat_activity where datname is not null and pid <> pg_backend_pid()",
    );
    await admin.query(`create database ${name} template service`);
    await admin.query("alter database service allow_connections true");
  }

  async function restoreState(name: string): Promise<void> {
    await admin.query("drop database service with (force)");
    await admin.query(`alter database ${name} rename to service`);
  }

  test("creates go on although their routes were stored after that state", async () => {
    await keepState("earlier");
    await keepState("earliest");
    const first = await merchant.post(URL, {});
    assert.equal(first.status, 201, first.text);
    await restoreState("earlier");
    const second = await merchant.post(URL, {});
    assert.equal(second.status, 201, second.text);
    assert.deepEqual(second.body.inboxTerms.routes, first.body.inboxTerms.routes);
    await restoreState("earliest");
    const third = await merchant.post(URL, {}, { "idempotency-key": "once" });
    assert.equal(third.status, 201, third.text);
    assert.deepEqual(third.body.inboxTerms.routes, first.body.inboxTerms.routes);
  });

  test("the configured tokens and routes are stored again", async () => {
    await keepState("without");
    const rows = async (table: "served_token" | "route_set") =>
      (await db.root.selectFrom(table).selectAll().execute()).length;
    const emptied = new pg.Client(server.urlOf("without"));
    await emptied.connect();
    await emptied.query("truncate served_token");
    await emptied.end();
    await restoreState("without");
    assert.equal(await rows("served_token"), 0);
    await storeConfiguredLoop(api.world).tick();
    assert.ok((await rows("served_token")) > 0);
    assert.ok((await rows("route_set")) > 0);
  });
});
