import assert from "node:assert/strict";
import { before, describe, test } from "node:test";
import { sql } from "kysely";
import type { BrowserContext, Page } from "playwright-core";
import { CHANGES_PER_DAY } from "../../src/dashboard/auditStore.ts";
import { addMember } from "../../src/dashboard/members.ts";
import { createDashboardCode } from "../../src/dashboard/signIn/dashboardLink.ts";
import { searchPayments } from "../../src/http/dashboard/searchPayments.ts";
import { LOOKED_MAX } from "../../src/intent/lists/listIntentPage.ts";
import { CREATE_INTENTS, MANAGE_DASHBOARD, READ_DASHBOARD } from "../../src/merchant/keys/scopes.ts";
import { processMovements } from "../../src/deposit/processMovements.ts";
import { listenTestApi, OTHER_CHAIN_ID, SETTLE_CHAIN_ID, testApi, USDC, type TestApi } from "../support/api.ts";
import { assertAccessible } from "../support/axe.ts";
import { skipWithoutChromium } from "../support/browser.ts";
import { cookieOf, FORM, formToken, openPages } from "../support/dashboard.ts";
import { randomAddress, TEST_CHAIN } from "../support/intents.ts";
import { recordMovements, setHead } from "../support/movements.ts";
import { sharedBrowser } from "../support/sharedBrowser.ts";

const SCOPES = [CREATE_INTENTS, READ_DASHBOARD, MANAGE_DASHBOARD];

describe("the dashboard's pages", () => {
  let api: TestApi;
  before(async () => {
    api = await testApi();
  });
  let network = 0;
  const post = (path: string, { cookie = "", ...fields }: Record<string, string>) =>
    api.send(`/dashboard${path}`, {
      method: "POST",
      headers: { ...FORM, cookie },
      body: new URLSearchParams(fields).toString(),
      remoteAddress: `10.8.0.${(network += 1)}`,
    });
  const openByLink = async (memberId: string) => {
    const { code } = await createDashboardCode(api.world, memberId);
    return cookieOf(await post("/sign-in/link", { code }));
  };
  const ids = (text: string) => [...new Set([...text.matchAll(/payments\/(pi_\w+)/g)].map(([, id]) => id))];

  test("filters by chain and price stand in the address, and a page looks through a bounded number", async () => {
    const own = await api.openMerchant({ scopes: SCOPES });
    const { get } = await openPages(api, own);
    const cheap = await own.insertIntent({ price_units: 5_000_000n, price_token_units: 5_000_000n });
    const dear = await own.insertIntent({ price_units: 500_500_000n, price_token_units: 500_500_000n });
    const other = await own.insertIntent({ payout_chain_reference: String(OTHER_CHAIN_ID), payout_token: USDC });
    const listed = async (query: string) => ids((await get(`/dashboard?${query}`)).text);
    const chain = encodeURIComponent(`eip155:${OTHER_CHAIN_ID}`);
    assert.deepEqual(await listed(`chain=${chain}`), [other.id]);
    assert.deepEqual(await listed("priceMin=500.5"), [dear.id]);
    assert.deepEqual(await listed("priceMax=5"), [cheap.id]);
    assert.deepEqual(await listed("priceMin=5&priceMax=500.5&status=active"), [dear.id, cheap.id]);
    assert.deepEqual(await listed("priceMin=5.000001&priceMax=500.49"), []);
    assert.deepEqual(await listed(`chain=${chain}&paymentStatus=paid`), []);
    const exported = await get(`/dashboard/payments.jsonl?chain=${chain}`);
    assert.equal(exported.text.trimEnd().split("\n").length, 1);
    for (const bad of ["chain=eip155:999", "priceMin=-1", "priceMin=1e3", "priceMax=1.0000001"])
      assert.equal((await get(`/dashboard?${bad}`)).status, 404, bad);

    await copyIntents(cheap.id);
    const first = await get(`/dashboard?chain=${chain}`);
    assert.deepEqual(ids(first.text), [], "it lies behind what a page looks through");
    const next = /href="(\/dashboard\?[^"]*cursor=[^"]+)"/.exec(first.text)?.[1]?.replaceAll("&amp;", "&") ?? "";
    assert.match(first.text, /Look through older payments/);
    assert.deepEqual(ids((await get(next)).text), [other.id]);
  });

  const COPIED: Readonly<Record<string, string>> = {
    status: "'archived'",
    archived_at: "created_at",
    widget_token_hash: "sha256(n::text::bytea)",
    inbox_address: "'0x' || lpad(to_hex(n), 40, 'f')",
  };
  /** As many as a page looks through, and some more. */
  async function copyIntents(id: string): Promise<void> {
    const { rows } = await sql<{ name: string }>`
      select column_name as name from information_schema.columns
      where table_name = 'intent' and is_identity = 'NO' and is_generated = 'NEVER' and column_name <> 'id'`.execute(
      api.world.db.root,
    );
    const names = rows.map(({ name }) => name);
    const values = names.map((name) => COPIED[name] ?? name);
    await sql`insert into intent (id, ${sql.raw(names.join())})
      select 'pi_' || lpad(n::text, 26, '0'), ${sql.raw(values.join())}
      from intent, generate_series(1, ${LOOKED_MAX + 10}) n where intent.id = ${id}`.execute(api.world.db.root);
  }

  test("a payer's address finds his payments to this account, however many he made to others", async () => {
    const [own, busy] = [await api.openMerchant({ scopes: SCOPES }), await api.openMerchant({ scopes: SCOPES })];
    const { db } = api.world;
    const sender = randomAddress();
    const pay = async (intent: Parameters<typeof recordMovements>[1], count: number, first: bigint) => {
      const movements = Array.from({ length: count }, (_each, index) => ({
        chainTx: `0x${(first + BigInt(index)).toString(16).padStart(64, "7")}`,
        amountUnits: 1_000_000n,
        block: 90n,
        counterparty: sender,
      }));
      await recordMovements(db, intent, movements);
    };
    await setHead(db, TEST_CHAIN, { number: 100n });
    const mine = await own.insertIntent();
    await pay(mine, 1, 1n);
    await processMovements(api.world, TEST_CHAIN);
    await pay(await busy.insertIntent(), 210, 1_000n);
    while (!(await processMovements(api.world, TEST_CHAIN)).isDone);
    const { rows } = await sql<{
      count: bigint;
    }>`select count(*) as count from deposit where sender = ${sender}`.execute(db.root);
    assert.ok(rows[0] !== undefined && rows[0].count > 200n, "more than a search reads");
    assert.deepEqual(
      (await searchPayments(api.world, own.accountId, sender)).map(({ id }) => id),
      [mine.id],
    );
  });

  test("a wallet of several accounts chooses one, and a link signs in once", async () => {
    const accounts = [await api.openMerchant({ scopes: SCOPES }), await api.openMerchant({ scopes: SCOPES })] as const;
    const stranger = await api.openMerchant({ scopes: SCOPES });
    const wallet = randomAddress();
    const [first] = await Promise.all(
      accounts.map(({ accountId }) => addMember(api.world, { accountId, wallet, role: "owner" }, "operator")),
    );
    assert.ok(first);
    const { code } = await createDashboardCode(api.world, first.id);
    const shown = await api.send(`/dashboard/sign-in/link?code=${code}`);
    assert.ok(shown.text.includes(code) && shown.headers["set-cookie"] === undefined, "a look uses nothing up");
    const both = await Promise.all([post("/sign-in/link", { code }), post("/sign-in/link", { code })]);
    assert.deepEqual(
      both.map(({ status }) => status).toSorted((one, other) => one - other),
      [303, 401],
    );
    const late = await createDashboardCode(api.world, first.id);
    api.advanceTime(10 * 60_000);
    assert.equal((await post("/sign-in/link", { code: late.code })).status, 401, "after ten minutes");

    const cookie = await openByLink(first.id);
    const page = await api.send("/dashboard/accounts", { headers: { cookie } });
    assert.ok(
      accounts.every(({ accountId }) => page.text.includes(accountId)) && !page.text.includes(stranger.accountId),
    );
    const token = formToken(page);
    assert.equal((await post("/accounts", { cookie, token, accountId: stranger.accountId })).status, 404);
    const [, second] = accounts;
    const switched = await post("/accounts", { cookie, token, accountId: second.accountId });
    assert.equal(switched.status, 303);
    assert.equal((await api.send("/dashboard", { headers: { cookie } })).status, 401, "the session before has ended");
    const other = cookieOf(switched);
    const created = await second.createIntent({ priceUnits: 1_000_000, merchantReference: "of-the-second" });
    assert.ok((await api.send("/dashboard", { headers: { cookie: other } })).text.includes(created.intentId));
  });

  test("one member makes a bounded number of changes a day, and can still revoke and stop", async () => {
    const { accountId } = await api.openMerchant({ scopes: SCOPES });
    const member = await addMember(api.world, { accountId, wallet: randomAddress(), role: "owner" }, "operator");
    const other = await addMember(api.world, { accountId, wallet: randomAddress(), role: "owner" }, "operator");
    const cookie = await openByLink(member.id);
    const token = formToken(await api.send("/dashboard", { headers: { cookie } }));
    const change = (more: object = {}) =>
      post("/team/role", { cookie, token, memberId: other.id, role: "reader", ...more });
    assert.equal((await change()).status, 303);
    await sql`insert into audit_entry (account_id, at, actor, action, details)
      select ${accountId}, ${api.world.clock.now()}, ${`member ${member.id}`}, 'key.created', '{}'
      from generate_series(1, ${CHANGES_PER_DAY - 1})`.execute(api.world.db.root);
    const refused = await change();
    assert.equal(refused.status, 429);
    assert.match(refused.text, /at most 200 changes/);
    assert.equal(
      (await post("/team/remove", { cookie, token, memberId: other.id })).status,
      303,
      "it can still remove",
    );
    api.advanceTime(25 * 3_600_000);
    const later = await openByLink(member.id);
    const again = formToken(await api.send("/dashboard", { headers: { cookie: later } }));
    const added = await post("/team", { cookie: later, token: again, wallet: randomAddress(), role: "reader" });
    assert.equal(added.status, 303, "a day later");
  });

  test(
    "keys lead through a list, pages mirror without overflow and print, and looks are previewed",
    { skip: skipWithoutChromium },
    async () => {
      const own = await api.openMerchant({ scopes: SCOPES });
      const member = await addMember(
        api.world,
        { accountId: own.accountId, wallet: randomAddress(), role: "owner" },
        "operator",
      );
      for (const merchantReference of ["first", "second", "third"])
        await own.createIntent({ priceUnits: 1_000_000, merchantReference });
      await sql`insert into settlement_day select ${own.accountId}, (${api.world.clock.now()}::timestamptz at time zone 'UTC')::date - n, chain, ${USDC}, 2,
        25000000 + n * 1000000, 125000, 0, 24875000 + n * 1000000
      from generate_series(0, 20) n, unnest(array[${`eip155:${SETTLE_CHAIN_ID}`}, ${`eip155:${OTHER_CHAIN_ID}`}]) chain`.execute(
        api.world.db.root,
      );
      const { code } = await createDashboardCode(api.world, member.id);
      const origin = `http://127.0.0.1:${await listenTestApi(api)}`;
      const context = await (
        await sharedBrowser()
      ).newContext({ bypassCSP: true, viewport: { width: 390, height: 844 } });
      try {
        const page = await context.newPage();
        const errors: string[] = [];
        page.on("pageerror", (error) => errors.push(error.message));
        await page.goto(`${origin}/dashboard/sign-in/link?code=${code}`);
        await page.getByRole("button", { name: "Open the dashboard" }).click();
        await page.getByRole("heading", { name: "Payments", level: 1 }).waitFor();
        await walkByKeys(page);
        for (const path of [
          "",
          "/settlements",
          "/webhooks",
          "/events",
          "/checkout",
          "/keys",
          "/team",
          "/payout",
          "/audit",
          "/accounts",
        ]) {
          await page.goto(`${origin}/dashboard${path}`);
          await page.evaluate(() => {
            document.documentElement.dir = "rtl";
          });
          assert.equal(
            await page.evaluate(() => document.documentElement.scrollWidth > innerWidth),
            false,
            `${path} mirrored`,
          );
          if (path !== "/checkout") await assertAccessible(page);
        }
        await page.goto(`${origin}/dashboard/settlements`);
        assert.equal(await page.locator(".chart g rect").count(), 42, "a bar for each day and chain");
        await page.emulateMedia({ media: "print" });
        for (const hidden of [".find", ".side nav", ".btn"])
          assert.equal(await page.locator(hidden).first().isVisible(), false, hidden);
        assert.ok(await page.locator(".chart").isVisible());
        await page.emulateMedia({ media: "screen" });
        await previewTyped(context, `${origin}/dashboard/checkout`);
        assert.deepEqual(errors, []);
      } finally {
        await context.close();
      }
    },
  );
});

async function walkByKeys(page: Page): Promise<void> {
  /** Keys work once the page's script has run. */
  const opened = async (name: string) => {
    await page.getByRole("heading", { name, level: 1 }).waitFor();
    await page.waitForLoadState();
  };
  await opened("Payments");
  const focused = () => page.evaluate(() => document.activeElement?.textContent);
  await page.keyboard.press("j");
  assert.equal(await focused(), "third");
  await page.keyboard.press("j");
  await page.keyboard.press("j");
  await page.keyboard.press("k");
  assert.equal(await focused(), "second");
  await page.keyboard.press("Enter");
  await opened("second");
  await page.keyboard.press("j");
  await opened("first");
  await page.keyboard.press("k");
  await opened("second");
  await page.keyboard.press("/");
  await page.keyboard.type("j?");
  assert.equal(await page.locator("#q").inputValue(), "j?", "keys are text where somebody types");
  await page.keyboard.press("Escape");
  await page.keyboard.press("?");
  await page.locator("#keys").waitFor({ state: "visible" });
  await page.getByLabel("Use these keys in this browser").uncheck();
  await page.keyboard.press("Escape");
  await page.locator("#keys").waitFor({ state: "hidden" });
  await page.evaluate(() => (document.activeElement as HTMLElement | null)?.blur());
  await page.keyboard.press("g");
  await page.keyboard.press("s");
  await page.keyboard.press("?");
  assert.equal(await page.locator("#keys").isVisible(), false, "the switch turns them off");
  await page.evaluate(() => localStorage.removeItem("tributary-keys"));
  await page.keyboard.press("g");
  await page.keyboard.press("s");
  await opened("Settlements");
}

/** In a context of its own, with the policy as it is. */
async function previewTyped(signedIn: BrowserContext, url: string): Promise<void> {
  const context = await (await sharedBrowser()).newContext({ storageState: await signedIn.storageState() });
  try {
    const page = await context.newPage();
    await page.goto(url);
    const shown = page.frameLocator("#preview").locator("main[data-screen=paid]");
    await shown.waitFor();
    await page.getByLabel("Accent", { exact: true }).fill("#ff0066");
    const frame = await (await page.locator("#preview").elementHandle())?.contentFrame();
    await frame?.waitForURL(/ff0066/);
    await shown.waitFor();
    assert.match((await frame?.content()) ?? "", /--tr-accent:#ff0066/);
  } finally {
    await context.close();
  }
}
