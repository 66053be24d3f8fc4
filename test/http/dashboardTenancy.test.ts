import assert from "node:assert/strict";
import { test } from "node:test";
import { sql } from "kysely";
import { addMember } from "../../src/dashboard/members.ts";
import { proposePayoutChange } from "../../src/dashboard/payoutChange.ts";
import { openMemberSession } from "../../src/dashboard/session.ts";
import { assignEventSequences } from "../../src/event/assignEventSequences.ts";
import { CREATE_INTENTS, MANAGE_DASHBOARD, MANAGE_WEBHOOKS, READ_DASHBOARD } from "../../src/merchant/keys/scopes.ts";
import { SETTLE_CHAIN_ID, testApi, type TestApi } from "../support/api.ts";
import { FORM, formToken, openPages } from "../support/dashboard.ts";
import { randomAddress } from "../support/intents.ts";
import { isDeepRun } from "../support/runNumber.ts";

const SCOPES = [CREATE_INTENTS, MANAGE_WEBHOOKS, READ_DASHBOARD, MANAGE_DASHBOARD];
/** All in `npm run test:deep`: more than a thousand. */
const STEP = isDeepRun ? 1 : 13;
/** Below the limits of a minute. */
const BATCH = 5;

type Route = { method: "GET" | "POST"; path: string };

/** Every route of the dashboard that the server has, so that a new one is tried as well. */
function listRoutes({ server }: TestApi): Route[] {
  const stack: string[] = [];
  return server
    .printRoutes({ commonPrefix: false })
    .split("\n")
    .flatMap((line) => {
      const [, indent = "", segment = "", methods = ""] = /^([│ ├└─]*)(\S+)(?: \((.*)\))?$/.exec(line) ?? [];
      if (segment === "") return [];
      stack.length = Math.floor(indent.length / 4) - 1;
      stack.push(segment);
      const path = stack.join("");
      if (!path.startsWith("/dashboard") || /\.(js|css)$/.test(path)) return [];
      return (["GET", "POST"] as const)
        .filter((method) => methods.includes(method))
        .map((method) => ({ method, path }));
    });
}

test("no route shows or changes another account's rows, however it is asked", async () => {
  const api = await testApi();
  const { world } = api;
  const victim = await api.openMerchant({ scopes: SCOPES });
  const created = await victim.createIntent({ priceUnits: 5_000_000, merchantReference: "victim-only" });
  const endpoint = await victim.post("/api/v1/webhook-endpoints", { url: "https://victim.example/hook" });
  const theirs = await addMember(
    world,
    { accountId: victim.accountId, wallet: randomAddress(), role: "owner", name: "Victim Name" },
    "operator",
  );
  const payout = { namespace: "eip155", chainReference: String(SETTLE_CHAIN_ID), currency: "USDC" } as const;
  world.config.payoutChangeDelayHours = 48;
  const change = { payout: { ...payout, wallet: randomAddress() } };
  const { id: changeId } = await proposePayoutChange(
    world,
    { accountId: victim.accountId, change },
    `member ${theirs.id}`,
  );
  await sql`insert into settlement_day (account_id, day, chain, token, landed_count, gross_units, fee_units, route_cost_units, net_units)
    values (${victim.accountId}, ${world.clock.now()}, ${`eip155:${SETTLE_CHAIN_ID}`}, 'x', 1, 777555333, 0, 0, 777555333)`.execute(
    world.db.root,
  );
  await assignEventSequences(world);
  const { rows: events } = await sql<{ id: string }>`
    select 'evt_' || encode(event.id, 'hex') as id from event join account on account.number = event.account_number
    where account.id = ${victim.accountId} limit 1`.execute(world.db.root);
  const endpointId = String(endpoint.body.webhookEndpointId);
  const names = {
    intentId: created.intentId,
    endpointId,
    accountId: victim.accountId,
    memberId: theirs.id,
    keyId: victim.keyId,
    changeId,
    eventId: events[0]?.id ?? "",
  };
  const secrets = ["victim-only", "victim.example", "Victim Name", "777555333", created.inboxAddress, theirs.wallet];
  const before = await snapshot(api, victim.accountId);

  const attacker = await api.openMerchant({ scopes: SCOPES });
  const member = await addMember(
    world,
    { accountId: attacker.accountId, wallet: randomAddress(), role: "owner" },
    "operator",
  );
  const byKey = (await openPages(api, attacker)).cookie;
  const byWallet = `tributary_dashboard=${await openMemberSession(world, { accountId: attacker.accountId, memberId: member.id })}`;
  const token = async (cookie: string) => formToken(await api.send("/dashboard", { headers: { cookie } }));
  const sessions = [
    { cookie: byKey, token: await token(byKey) },
    { cookie: byWallet, token: await token(byWallet) },
  ];
  const texts = [...Object.values(names), created.inboxAddress, "victim-only", victim.wallet];
  const routes = listRoutes(api).filter(({ path }) => path !== "/dashboard/sign-out");
  for (const known of ["/dashboard", "/dashboard/settlements", "/dashboard/accounts", "/dashboard/checkout/preview"])
    assert.ok(
      routes.some(({ path }) => path === known),
      `${known} is tried`,
    );
  let tries = 0;
  const hits: string[] = [];
  const attempt = async ({ method, path }: Route, text: string, session: (typeof sessions)[number]) => {
    tries += 1;
    if (tries % BATCH === 0) api.advanceTime(61_000);
    const url = path.replaceAll(/:\w+(\([^)]*\))*/g, encodeURIComponent(text));
    const fields = [
      "q",
      "cursor",
      "before",
      "merchantReference",
      "accountId",
      "coin",
      "nonce",
      "code",
      "accent",
      "wallet",
      "scope",
    ];
    const query = new URLSearchParams({ ...names, ...Object.fromEntries(fields.map((name) => [name, text])) });
    // One wrong filter refuses a whole list, so each is asked for by itself as well.
    const urls =
      method === "GET"
        ? [url, ...[...query].map(([name, value]) => `${url}?${new URLSearchParams({ [name]: value }).toString()}`)]
        : [url];
    query.set("token", session.token);
    const picked = method === "GET" ? [urls[tries % urls.length] ?? url] : urls;
    for (const each of picked) {
      const answered = await api.send(each, {
        method,
        remoteAddress: `10.12.${tries >> 8}.${tries & 255}`,
        headers: { cookie: session.cookie, ...(method === "POST" ? FORM : {}) },
        ...(method === "POST" ? { body: query.toString() } : {}),
      });
      assert.notEqual(answered.status, 429, each);
      // What was asked for is shown again, as the search's own text for example.
      const shown = answered.text.replaceAll(
        /<h1>.*?<\/h1>|<title>[^<]*<\/title>|value="[^"]*"|(href|src)="\/dashboard[^"]*"|<textarea[^>]*>[^<]*/g,
        "",
      );
      const unasked = secrets.filter((secret) => secret.toLowerCase() !== text.toLowerCase());
      if (unasked.some((secret) => shown.toLowerCase().includes(secret.toLowerCase()))) hits.push(`${method} ${each}`);
    }
  };
  // The second round asks each with other parameters.
  const asked = [1, 2].flatMap(() =>
    routes.flatMap((route) => texts.flatMap((text) => sessions.map((session) => ({ route, text, session })))),
  );
  for (const [index, { route, text, session }] of asked.entries())
    if (index % STEP === 0) await attempt(route, text, session);
  assert.ok(tries > (isDeepRun ? 1_000 : 100), `${tries} tries`);
  assert.deepEqual(hits, []);
  assert.deepEqual(await snapshot(api, victim.accountId), before, "nothing of it was changed");
  const own = await openPages(api, victim);
  assert.ok(
    (await own.get(`/dashboard/payments/${created.intentId}`)).text.includes("victim-only"),
    "its owner sees it",
  );
});

/** What an attack could change. */
async function snapshot({ world }: TestApi, accountId: string): Promise<unknown> {
  const tables = ["webhook_endpoint", "member", "payout_change", "page_origin", "account_brand", "audit_entry"];
  const read = async (table: string) =>
    (await sql`select * from ${sql.table(table)} where account_id = ${accountId}`.execute(world.db.root)).rows;
  const { rows: keys } =
    await sql`select key_id, revoked_at, scopes from api_key where account_id = ${accountId}`.execute(world.db.root);
  const { rows: account } = await sql`select payout_wallet, name, status from account where id = ${accountId}`.execute(
    world.db.root,
  );
  return [keys, account, ...(await Promise.all(tables.map(read)))];
}
