import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { findPort } from "../../src/cli/dev/port.ts";
import { openDatabase, type Db } from "../../src/db/database.ts";
import { migrate } from "../../src/db/migrate.ts";
import { systemClock } from "../../src/kernel/clock.ts";
import { runCli } from "../support/cli.ts";
import { addMerchant } from "../support/merchants.ts";
import { startPostgres, type PostgresServer } from "../support/postgres.ts";
import { openSite, SILENT_CHAIN, type RunningService, type ServiceSite } from "../support/service.ts";

// Two processes over one PostgreSQL, and a third one, the command line, that changes keys behind their backs.

const PROMISED_MS = 1_000;
const POLL_MS = 20;

describe("keys in several processes", () => {
  let server: PostgresServer;
  let db: Db;
  let sites: ServiceSite[];
  let services: RunningService[];
  const secrets: string[] = [];

  before(async () => {
    server = await startPostgres(undefined, { isDurable: true });
    const databaseUrl = server.urlOf("postgres");
    db = await openDatabase({ url: databaseUrl });
    await migrate(db, { appliedAt: systemClock.now() });
    sites = await Promise.all(
      [1, 2].map(async () =>
        openSite({
          chain: SILENT_CHAIN,
          databaseUrl,
          port: await findPort("127.0.0.1", 0),
          config: { logLevel: "debug" },
        }),
      ),
    );
    services = await Promise.all(sites.map((site) => site.start()));
  });
  after(async () => {
    await Promise.all(services.map((service) => service.kill()));
    await db.close();
    await Promise.all([server.remove(), ...sites.map((site) => site.remove())]);
  });

  async function openMerchant(): Promise<{ accountId: string; apiKey: string }> {
    const merchant = await addMerchant(db, { chainReference: String(SILENT_CHAIN.chainId) });
    secrets.push(merchant.apiKey);
    return merchant;
  }

  /** Status and code of a call to one of the two. */
  async function call(site: ServiceSite, apiKey: string): Promise<string> {
    const headers = { authorization: `Bearer ${apiKey}`, "service-version": "2026-11-01" };
    const answer = await fetch(`${site.baseUrl}/api/v1/intents/pi_0`, { headers });
    const body = (await answer.json()) as { error: { code: string } };
    return `${answer.status} ${body.error.code}`;
  }

  async function operate<T>(words: readonly string[]): Promise<T> {
    const [site] = sites;
    assert.ok(site);
    const { code, out, err } = await runCli([...words, "--config", site.file, "--json"], site.environment);
    assert.equal(code, 0, err);
    return JSON.parse(out) as T;
  }

  /** Calls every process again and again, until all answer so; whoever was asked later than promised must. */
  async function everyProcessSays(expected: string, apiKey: string): Promise<void> {
    const startedMs = performance.now();
    await Promise.all(
      sites.map(async (site) => {
        for (;;) {
          const ageMs = performance.now() - startedMs;
          const said = await call(site, apiKey);
          if (ageMs < PROMISED_MS) {
            await systemClock.sleep(POLL_MS);
            continue;
          }
          assert.equal(said, expected, `${ageMs} ms after the change`);
          return;
        }
      }),
    );
  }

  test("D21 a key that another process has revoked is refused by every process within a second of use", async () => {
    const { apiKey } = await openMerchant();
    for (const site of sites) assert.equal(await call(site, apiKey), "404 not_found");
    await operate(["keys", "revoke", apiKey]);
    await everyProcessSays("401 key_revoked", apiKey);
  });

  test("D21 a suspended account is refused by every process, and let in again", async () => {
    const { apiKey, accountId } = await openMerchant();
    for (const site of sites) assert.equal(await call(site, apiKey), "404 not_found");
    await operate(["accounts", "suspend", accountId]);
    await everyProcessSays("403 account_suspended", apiKey);
    await operate(["accounts", "resume", accountId]);
    await everyProcessSays("404 not_found", apiKey);
  });

  test("a rotated key and its successor work side by side in every process, and the old one ends alone", async () => {
    const { apiKey, accountId } = await openMerchant();
    type Rotated = { apiKey: string; keyId: string; oldKeyId: string; oldExpiresAt: string };
    const rotated = await operate<Rotated>(["keys", "rotate", apiKey, "--overlap-hours", "1"]);
    secrets.push(rotated.apiKey);
    for (const site of sites) {
      for (const key of [apiKey, rotated.apiKey]) assert.equal(await call(site, key), "404 not_found");
    }
    type Shown = { keyId: string; state: string; expiresAt: string | null };
    const listed = await operate<Shown[]>(["keys", "list", accountId]);
    assert.deepEqual(
      listed.map(({ keyId, state, expiresAt }) => [keyId, state, expiresAt]),
      [
        [rotated.oldKeyId, "valid", rotated.oldExpiresAt],
        [rotated.keyId, "valid", null],
      ],
    );
    const next = await operate<Rotated>(["keys", "rotate", rotated.keyId, "--overlap-hours", "0"]);
    secrets.push(next.apiKey);
    await everyProcessSays("401 key_expired", rotated.apiKey);
    for (const site of sites) assert.equal(await call(site, next.apiKey), "404 not_found");
  });

  test("a row that somebody holds locked keeps no request waiting for its last use", async () => {
    const { apiKey, accountId } = await openMerchant();
    await db.transaction(async (tx) => {
      await tx.selectFrom("api_key").select("key_id").where("account_id", "=", accountId).forUpdate().execute();
      for (const site of sites) {
        for (let calls = 0; calls < 3; calls += 1) assert.equal(await call(site, apiKey), "404 not_found");
      }
    });
  });

  test("§5.2 no key stands in anything that a process has written, at the most talkative level", () => {
    assert.ok(secrets.length >= 4);
    for (const service of services) {
      assert.match(service.said(), /"level":/);
      for (const secret of secrets) assert.ok(!service.said().includes(secret.slice(-64)));
    }
  });
});
