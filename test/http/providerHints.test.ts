import assert from "node:assert/strict";
import { createHmac } from "node:crypto";
import { connect, type Socket } from "node:net";
import { gzipSync } from "node:zlib";
import { after, before, describe, test } from "node:test";
import { checkRows } from "../../src/alarm/checkRows.ts";
import type { HintProvider } from "../../src/config/config.ts";
import type { Db } from "../../src/db/database.ts";
import { Secret } from "../../src/kernel/secret.ts";
import { listenTestApi, openTestApi, type Merchant, type TestApi } from "../support/api.ts";
import { openTestDatabase, thoroughDatabase } from "../support/database.ts";

const SECRETS = {
  alchemy: "whsec_alchemy_secret",
  quicknode: "qnsec_quicknode_secret",
  helius: "Bearer helius-secret",
};
const hmac = (secret: string, text: string) => createHmac("sha256", secret).update(text).digest("hex");

describe("webhooks of providers", () => {
  let db: Db;
  let api: TestApi;
  let slug: string;
  let merchant: Merchant;
  before(async () => {
    db = await openTestDatabase(thoroughDatabase);
    const plain = await openTestApi(db);
    const hints = Object.entries(SECRETS).map(([provider, secret]) => ({
      provider: provider as HintProvider,
      secret: new Secret(secret),
    }));
    const [first, second, ...others] = plain.world.config.chains;
    assert.ok(first && second);
    slug = first.slug;
    const without = { ...second, hints: [{ provider: "alchemy" as const, secret: undefined }] };
    api = await openTestApi(db, {
      config: { ...plain.world.config, chains: [{ ...first, hints }, without, ...others] },
    });
    await plain.server.close();
    merchant = await api.openMerchant();
  });
  after(async () => {
    await api.server.close();
    await db.close();
  });

  const nowS = () => Math.floor(api.world.clock.now().getTime() / 1_000);

  function prove(provider: HintProvider, body: string, { secret = SECRETS[provider], atS = nowS() } = {}) {
    const timestamp = String(atS);
    const headers: Record<string, string> = { "content-type": "application/json" };
    if (provider === "alchemy") headers["x-alchemy-signature"] = hmac(secret, body);
    if (provider === "helius") headers["authorization"] = secret;
    if (provider !== "quicknode") return headers;
    return {
      ...headers,
      "x-qn-nonce": "nonce",
      "x-qn-timestamp": timestamp,
      "x-qn-signature": hmac(secret, `nonce${timestamp}${body}`),
    };
  }
  /** `to`: the provider, or the provider and a chain. */
  const post = (to: string, headers: Record<string, string>, body: string | Uint8Array) =>
    api.send(`/hooks/${to.includes("/") ? to : `${to}/${slug}`}`, { method: "POST", headers, body });

  async function hintedIntents(): Promise<string[]> {
    const rows = await db.root.selectFrom("view_hint").select("intent_id").distinct().execute();
    return rows.map(({ intent_id }) => intent_id);
  }

  /** Resolves with the intents once the watcher's loop of hints is woken. */
  async function woken(send: () => Promise<number>): Promise<string[]> {
    const topic = `hints:${api.world.config.chains[0]?.caip2 ?? ""}`;
    const wake = api.world.wake.wait(topic, { timeoutMs: 10_000, signal: new AbortController().signal });
    assert.equal(await send(), 202);
    await wake;
    return hintedIntents();
  }

  for (const provider of ["alchemy", "quicknode", "helius"] as const)
    test(`${provider}: what it proves makes the watcher look at the inboxes that it names, and at nothing else`, async () => {
      await db.root.deleteFrom("view_hint").execute();
      const [named, other] = [await merchant.createIntent(), await merchant.createIntent()];
      const padded = `0x${"0".repeat(24)}${String(named.inboxAddress).slice(2).toUpperCase()}`;
      const body = JSON.stringify({ logs: [{ topics: ["0xddf2", padded], to: `0x${"ab".repeat(20)}` }], note: "→" });
      const send = async () => (await post(provider, prove(provider, body), body)).status;
      assert.deepEqual(await woken(send), [named.intentId]);
      assert.notEqual(named.intentId, other.intentId);
      assert.equal((await db.root.selectFrom("movement").select("id").execute()).length, 0, "it is never believed");
      const changed = `${body} `;
      if (provider !== "helius") assert.equal((await post(provider, prove(provider, body), changed)).status, 401);
      assert.equal((await post(provider, prove(provider, body, { secret: "another secret of it" }), body)).status, 401);
      assert.equal((await post(provider, {}, body)).status, 401);
      const row = await db.root
        .selectFrom("provider_hint")
        .selectAll()
        .where("provider", "=", provider)
        .executeTakeFirst();
      assert.deepEqual(row?.last_at, api.world.clock.now());
    });

  test("a proof of nonce, time and body expires, and may be over a compressed body", async () => {
    for (const differenceS of [-301, 301]) {
      const headers = prove("quicknode", "{}", { atS: nowS() + differenceS });
      assert.equal((await post("quicknode", headers, "{}")).status, 401);
    }
    const headers = { ...prove("quicknode", "{}"), "content-encoding": "gzip" };
    assert.equal((await post("quicknode", headers, gzipSync("{}"))).status, 202);
    assert.equal((await post("quicknode", headers, "no gzip")).status, 401);
    const bomb = gzipSync(Buffer.alloc(2_000_000));
    assert.equal((await post("quicknode", headers, bomb)).status, 401);
  });

  test("an unknown provider or chain and one without a secret are no path, and a long body is refused", async () => {
    api.advanceTime(1_000);
    assert.equal((await post("moralis", prove("alchemy", "{}"), "{}")).status, 404);
    assert.equal((await post("alchemy/nowhere", prove("alchemy", "{}"), "{}")).status, 404);
    const other = api.world.config.chains[1]?.slug ?? "";
    assert.equal((await post(`alchemy/${other}`, prove("alchemy", "{}"), "{}")).status, 404, "no secret");
    assert.equal((await post("helius", prove("alchemy", "{}"), "{}")).status, 401, "the proof of another provider");
    const long = " ".repeat(1_048_577);
    assert.equal((await post("alchemy", prove("alchemy", long), long)).status, 413);
    assert.equal((await post("alchemy", prove("alchemy", "not JSON"), "not JSON")).status, 202);
  });

  test("more than twenty hints of a chain in a second are refused", async () => {
    api.advanceTime(1_000);
    const statuses = [];
    for (let count = 0; count < 21; count += 1)
      statuses.push((await post("helius", prove("helius", "{}"), "{}")).status);
    assert.deepEqual([statuses.filter((status) => status === 202).length, statuses.at(-1)], [20, 429]);
    api.advanceTime(1_000);
    assert.equal((await post("helius", prove("helius", "{}"), "{}")).status, 202);
  });

  test("bodies without a proof yet are few, and a network that proves nothing sends none", async () => {
    api.advanceTime(60_000);
    const port = await listenTestApi(api);
    const length = 1_048_576;
    const head = ["POST /hooks/alchemy/", " HTTP/1.1\r\nhost: pay\r\ncontent-type: application/json\r\n"].join(slug);
    const signed = `x-alchemy-signature: ${"a".repeat(64)}\r\ncontent-length: ${length}\r\n\r\n`;
    const answers = new Map<Socket, string>();
    const sockets = Array.from({ length: 10 }, () => {
      const socket = connect(port, "127.0.0.1");
      // A refused body may cost the connection before its answer is read.
      socket.on("error", () => answers.set(socket, answers.get(socket) ?? "HTTP/1.1 429"));
      socket.on("data", (data) => answers.set(socket, answers.get(socket) ?? String(data)));
      socket.write(head + signed);
      socket.write(Buffer.alloc(length - 1));
      return socket;
    });
    while (answers.size < 6) await new Promise(setImmediate);
    // Others are answered meanwhile, and the places of clients that leave are free again.
    const far = { method: "POST", headers: prove("alchemy", "{}"), body: "{}", remoteAddress: "10.2.3.4" };
    assert.equal((await api.send(`/hooks/alchemy/${slug}`, far)).status, 202);
    assert.ok(answers.size === 6 && [...answers.values()].every((text) => text.startsWith("HTTP/1.1 429")));
    for (const socket of sockets) socket.destroy();
    const send = () => post("alchemy", prove("alchemy", "{}"), "{}");
    while ((await send()).status !== 202) api.advanceTime(1_000);
    for (let count = 0; count < 60; count += 1)
      assert.equal((await post("alchemy", prove("alchemy", "{"), "{}")).status, 401);
    assert.equal((await send()).status, 429);
    assert.equal((await api.send(`/hooks/alchemy/${slug}`, far)).status, 202);
    api.advanceTime(60_000);
    assert.equal((await send()).status, 202);
  });

  test("a provider that spoke and is silent for an hour is an alarm", async () => {
    const silent = async () => (await checkRows(api.world)).filter(({ alarm }) => alarm === "hints_silent");
    assert.deepEqual(await silent(), []);
    api.advanceTime(3_600_000);
    assert.equal((await silent()).length, 3);
    assert.equal((await post("helius", prove("helius", "{}"), "{}")).status, 202);
    while ((await silent()).length === 3) await new Promise(setImmediate);
    assert.deepEqual(
      (await silent()).map(({ facts }) => facts["provider"]),
      ["alchemy", "quicknode"],
    );
  });
});
