import assert from "node:assert/strict";
import { globSync } from "node:fs";
import { test } from "node:test";
import { OPERATIONS } from "../../src/http/operationList.ts";
import { addMs, systemClock } from "../../src/kernel/clock.ts";
import { faultRows } from "../../src/kernel/faults.ts";
import { listenTestApi, testApi, type TestApi } from "../support/api.ts";
import { openBrowser, skipWithoutChromium } from "../support/browser.ts";
import { onlyDeep } from "../support/runNumber.ts";

const HOUR_MS = 3_600_000;
const ROOT = new URL("../../", import.meta.url);

/** All pages that links reach from the reference, by path. */
async function allPages(api: TestApi): Promise<Map<string, string>> {
  const pages = new Map<string, string>();
  const waiting = ["/docs"];
  for (let url = waiting.pop(); url !== undefined; url = waiting.pop()) {
    if (pages.has(url)) continue;
    const { status, text } = await api.send(url);
    assert.equal(status, 200, url);
    pages.set(url, text);
    assert.ok(pages.size < 200, "the pages do not end");
    waiting.push(...linksOf(url, text).map((link) => link.split("#", 1)[0] ?? ""));
  }
  return pages;
}

async function originOf(api: TestApi): Promise<string> {
  return `http://127.0.0.1:${await listenTestApi(api)}`;
}

/** A page's links to this service. */
function linksOf(url: string, html: string): string[] {
  const links = [...html.matchAll(/href="([^"]+)"/g)].map(([, link = ""]) => new URL(link, `http://here${url}`));
  return links.filter(({ host }) => host === "here").map(({ pathname, hash }) => pathname + hash);
}

test("every link in the documentation reaches an existing page and anchor", async () => {
  const pages = await allPages(await testApi());
  for (const [url, html] of pages) {
    for (const link of linksOf(url, html)) {
      const [path = "", anchor] = link.split("#", 2);
      const target = pages.get(path);
      assert.ok(target !== undefined, `${url} links to ${link}`);
      if (anchor !== undefined) assert.ok(target.includes(` id="${anchor}"`), `${url} links to ${link}`);
    }
  }
  // The overview is for readers of the repository; a service has an index of its own.
  const guides = globSync(["docs/*.md", "docs/{integrate,operate,why}/*.md"], { cwd: ROOT })
    .filter((path) => path !== "docs/README.md")
    .map((path) => `/${path.replace(/\.md$/, "")}`);
  const errors = Object.keys(faultRows).map((code) => `/docs/errors/${code}`);
  for (const url of [...guides, ...errors, "/docs/errors", "/openapi.json"]) assert.ok(pages.has(url), url);
});

test("the reference links to the first-intent guide before all other guides and operations", async () => {
  const { text } = await (await testApi()).send("/docs");
  const links = linksOf("/docs", text);
  const guide = links.find((link) => /^\/docs\/(?:integrate|operate|why)\//.test(link)) ?? "";
  assert.equal(guide, "/docs/integrate/first-intent");
  assert.ok(links.indexOf(guide) < links.indexOf("/docs#createPaymentIntent"));
});

test("the reference describes method, path, fields, examples and limit of every operation", async () => {
  const api = await testApi();
  const { text, headers } = await api.send("/docs");
  assert.match(String(headers["content-security-policy"]), /default-src 'none'/);
  assert.doesNotMatch(text, /src=|@import|url\(|<style [^>]|<link/);
  assert.equal(text.match(/<script/g)?.length, 3);
  const sections = new Map(
    text.split(/<section id="/).map((section) => [section.slice(0, section.indexOf('"')), section]),
  );
  for (const { operationId, method, path, body, query = {}, success, perMinute, isStream = false } of OPERATIONS) {
    const section = sections.get(operationId) ?? "";
    const fields = Object.keys({ ...query, ...body?.properties });
    const expected = [
      `>${method}<`,
      `<code>${path}</code>`,
      "curl ",
      ...(isStream ? ["followEvents("] : [`tributary.${operationId}(`, "requests.", "curl_init("]),
      "The key needs the scope",
      String(success.status),
    ];
    for (const word of [...expected, `At most ${perMinute} calls`, ...fields.map((field) => `<code>${field}</code>`)]) {
      assert.ok(section.includes(word), `${operationId} lacks ${word}`);
    }
  }
});

test("a guide is served as HTML and as Markdown; other paths below /docs are not found", async () => {
  const api = await testApi();
  const page = "/docs/integrate/errors-and-retries";
  assert.match((await api.send(`${page}.md`)).text, /^# /);
  assert.match((await api.send(page)).text, /<h1>/);
  for (const url of [`${page}.md.md`, "/docs/integrate", "/docs/images", "/docs/errors/..%2f..%2fREADME", "/docs/"]) {
    assert.equal((await api.send(url)).status, 404, url);
  }
});

test("every page fits a phone's width in light and dark mode", { skip: skipWithoutChromium || onlyDeep }, async () => {
  const api = await testApi();
  const origin = await originOf(api);
  const browser = await openBrowser();
  try {
    for (const colorScheme of ["light", "dark"] as const) {
      const page = await browser.newPage({ viewport: { width: 390, height: 800 }, colorScheme });
      const requests: string[] = [];
      page.on("request", (request) => requests.push(request.url()));
      const guides = ["/docs/integrate/deposits-and-settlements", "/docs/operate/install"];
      const urls = ["/docs", "/docs/errors", "/docs/errors/not_found", ...guides];
      for (const url of urls) {
        await page.goto(`${origin}${url}`);
        // Collapsed details may be the widest elements.
        await page.locator("details").evaluateAll((all) => all.forEach((one) => one.setAttribute("open", "")));
        const width = await page.evaluate(() => document.documentElement.scrollWidth);
        assert.equal(width, 390, `${url} in ${colorScheme}`);
        const heads = page.locator(".scroll th");
        const areShown = await heads.evaluateAll((all) => all.every((head) => head.checkVisibility()));
        assert.ok(areShown, `${url} names its columns`);
      }
      assert.deepEqual(
        requests,
        urls.map((url) => `${origin}${url}`),
        "nothing else is loaded",
      );
      await page.close();
    }
  } finally {
    await browser.close();
  }
});

type Entry = { title: string; kind: string; url: string; words: string };

test("every search entry points to a page's anchor and appears in the index page without a script", async () => {
  const api = await testApi();
  const entries = (await api.send("/docs/index.json")).body as Entry[];
  const pages = new Map<string, string>();
  const { text: index } = await api.send("/docs/index");
  for (const { title, url } of entries) {
    const [path = "", anchor] = url.split("#", 2);
    if (!pages.has(path)) pages.set(path, (await api.send(path)).text);
    const page = pages.get(path) ?? "";
    if (anchor !== undefined) assert.equal(page.split(` id="${anchor}"`).length, 2, url);
    assert.ok(index.includes(`<a href="${url}">`), `${title} is not in the index`);
  }
  const titles = new Set(entries.map(({ title }) => title));
  const fields = OPERATIONS.flatMap(({ body, query }) => [body ?? {}, ...(body?.oneOf ?? []), { properties: query }])
    .flatMap(({ properties = {} }) => Object.entries(properties))
    .flatMap(([name, { type }]) => (type === "null" ? [] : [name]));
  const expected = [...Object.keys(faultRows), ...OPERATIONS.map(({ summary }) => summary), ...fields];
  for (const title of expected) assert.ok(titles.has(title), title);
  for (const title of ["amounts.countedUnits", "payout.caip19", "request_id", "next_cursor", "PaymentIntent"])
    assert.ok(titles.has(title), title);
});

test(
  "the search opens by keyboard and lists results during typing on every page",
  { skip: skipWithoutChromium || onlyDeep },
  async () => {
    const origin = await originOf(await testApi());
    const browser = await openBrowser();
    try {
      for (const [width, colorScheme] of [
        [390, "dark"],
        [1_280, "light"],
      ] as const) {
        const page = await browser.newPage({ viewport: { width, height: 800 }, colorScheme });
        const errors: string[] = [];
        const requests: string[] = [];
        page.on("console", (message) => errors.push(message.text()));
        page.on("pageerror", (error) => errors.push(error.message));
        page.on("request", (request) => requests.push(request.url().slice(origin.length)));
        await page.goto(`${origin}/docs/errors`);
        await page.keyboard.press("/");
        const box = page.getByRole("combobox", { name: "Search" });
        const found = page.getByRole("option");
        assert.equal(await box.evaluate((element) => element === document.activeElement), true);
        assert.equal(await box.inputValue(), "");
        await box.pressSequentially("price un");
        await found.first().waitFor();
        assert.match(await found.first().innerText(), /priceUnits[^]*Field/);
        assert.match(await page.getByRole("status").innerText(), /^\d+ found/);
        assert.equal(await page.evaluate(() => document.documentElement.scrollWidth), width);
        await page.keyboard.press("Escape");
        assert.equal(await found.count(), 0);
        await box.fill("zzzz");
        await page.getByText("Nothing found.").waitFor();
        await box.fill("conflict");
        await found.first().waitFor();
        await page.keyboard.press("ArrowDown");
        await page.keyboard.press("ArrowDown");
        const chosen = page.locator("[aria-selected=true]");
        assert.equal(await box.getAttribute("aria-activedescendant"), await chosen.getAttribute("id"));
        await page.keyboard.press("ArrowUp");
        assert.match(await chosen.innerText(), /destination_conflict/);
        await page.keyboard.press("Enter");
        await page.waitForURL(`${origin}/docs/errors/destination_conflict`);
        await page.keyboard.press("/");
        await box.pressSequentially("countedUnits");
        await found.filter({ hasText: "PaymentIntent" }).first().click();
        await page.waitForURL(/\/docs#PaymentIntent\.amounts\.countedUnits$/);
        // A link into collapsed details opens them.
        await page.locator('[id="PaymentIntent.amounts.countedUnits"]').waitFor();
        // A result on the same page closes the list.
        await page.keyboard.press("/");
        await box.pressSequentially("createPaymentIntent");
        await found.first().waitFor();
        await page.keyboard.press("Enter");
        await found.first().waitFor({ state: "detached" });
        const pages = ["/docs/errors", "/docs/index.json", "/docs/errors/destination_conflict", "/docs"];
        assert.deepEqual([...new Set(requests.map((url) => url.split("#")[0]))], pages);
        assert.deepEqual(errors, []);
        await page.close();
      }
      const page = await browser.newPage({ javaScriptEnabled: false });
      await page.goto(`${origin}/docs`);
      assert.equal(await page.locator("#search").isVisible(), false);
      await page.getByRole("link", { name: "Index of everything" }).first().click();
      await page.getByRole("link", { name: "destination_conflict" }).click();
      await page.waitForURL(`${origin}/docs/errors/destination_conflict`);
    } finally {
      await browser.close();
    }
  },
);

test(
  "code has a copy button, one choice of language holds for all samples, and a form sends the call",
  { skip: skipWithoutChromium },
  async () => {
    const api = await testApi();
    const origin = await originOf(api);
    const { apiKey } = await api.openMerchant();
    const browser = await openBrowser();
    try {
      const context = await browser.newContext({ viewport: { width: 1_600, height: 1_000 } });
      await context.grantPermissions(["clipboard-read", "clipboard-write"], { origin });
      const page = await context.newPage();
      const errors: string[] = [];
      const requests: string[] = [];
      page.on("console", (message) => errors.push(message.text()));
      page.on("pageerror", (error) => errors.push(error.message));
      page.on("request", (request) => requests.push(`${request.method()} ${request.url().slice(origin.length)}`));
      await page.clock.install();
      await page.goto(`${origin}/docs`);
      const create = page.locator("#createPaymentIntent");
      const read = page.locator("#getPaymentIntent");
      await create.getByText("Python").click();
      await read.locator("pre", { hasText: "requests.get(" }).waitFor();
      assert.equal(await read.locator('pre[data-language="curl"]').isVisible(), false);
      // The button says so for a moment alone, so time stands still meanwhile.
      await page.clock.pauseAt(addMs(systemClock.now(), HOUR_MS));
      await create.locator(".code", { hasText: "requests.post(" }).getByRole("button").click();
      await create.getByRole("button", { name: "Copied" }).waitFor();
      await page.clock.resume();
      const copied = await page.evaluate(() => navigator.clipboard.readText());
      assert.match(copied, /^import os\nimport requests\n\nresponse = requests\.post\(\n/);
      // The answer stands beside the description, in full.
      const answer = create.locator(".answer pre");
      assert.ok(await answer.evaluate((block) => block.scrollHeight <= block.clientHeight + 1));
      await create.getByText("Try it with this service").click();
      await create.getByLabel("API key").fill(apiKey);
      await create.getByLabel("Body").fill('{"priceUnits": 5}');
      await create.getByRole("button", { name: "Send" }).click();
      await create.locator("output pre").waitFor();
      assert.match(await create.locator("output p").innerText(), /^201 Created · \d+ ms · 29 calls left this minute$/);
      const intent = JSON.parse(await create.locator("output pre").innerText()) as {
        intentId: string;
        priceUnits: number;
      };
      assert.equal(intent.priceUnits, 5);
      // The key that was typed once serves every form.
      await read.getByText("Try it with this service").click();
      await read.getByLabel("id", { exact: true }).fill(intent.intentId);
      await read.getByRole("button", { name: "Send" }).click();
      await read.locator("output pre", { hasText: intent.intentId }).waitFor();
      const list = page.locator("#listPaymentIntents");
      await list.getByText("Try it with this service").click();
      await list.getByLabel("limit", { exact: true }).fill("1");
      await list.getByRole("button", { name: "Send" }).click();
      await list.locator("output pre", { hasText: intent.intentId }).waitFor();
      assert.deepEqual(errors, []);
      const path = "/api/v1/intents";
      assert.deepEqual(requests, [
        "GET /docs",
        `POST ${path}`,
        `GET ${path}/${intent.intentId}`,
        `GET ${path}?limit=1`,
      ]);
      assert.deepEqual(await page.evaluate(() => [localStorage.length, sessionStorage.length, document.cookie]), [
        0,
        0,
        "",
      ]);
      await page.goto(`${origin}/docs/integrate/first-intent`);
      assert.equal(await page.locator(".code .copy").count(), await page.locator("pre").count());
    } finally {
      await browser.close();
    }
  },
);
