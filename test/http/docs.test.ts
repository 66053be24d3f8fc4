import assert from "node:assert/strict";
import { globSync } from "node:fs";
import { test } from "node:test";
import { OPERATIONS } from "../../src/http/operationList.ts";
import { faultRows } from "../../src/kernel/faults.ts";
import { testApi, type TestApi } from "../support/api.ts";
import { openBrowser, skipWithoutChromium } from "../support/browser.ts";

const ROOT = new URL("../../", import.meta.url);

/** Every page that is reached from the reference by links, each with the anchors that it has. */
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

/** The addresses on this service that a page links to. */
function linksOf(url: string, html: string): string[] {
  const links = [...html.matchAll(/href="([^"]+)"/g)].map(([, link = ""]) => new URL(link, `http://here${url}`));
  return links.filter(({ host }) => host === "here").map(({ pathname, hash }) => pathname + hash);
}

test("every link of the documentation leads somewhere, to the place it names", async () => {
  const pages = await allPages(await testApi());
  for (const [url, html] of pages) {
    for (const link of linksOf(url, html)) {
      const [path = "", anchor] = link.split("#", 2);
      const target = pages.get(path);
      assert.ok(target !== undefined, `${url} links to ${link}`);
      if (anchor !== undefined) assert.ok(target.includes(` id="${anchor}"`), `${url} links to ${link}`);
    }
  }
  const guides = globSync(["docs/*.md", "docs/{integrate,operate,why}/*.md"], { cwd: ROOT }).map(
    (path) => `/${path.replace(/\.md$/, "")}`,
  );
  const errors = Object.keys(faultRows).map((code) => `/docs/errors/${code}`);
  for (const url of [...guides, ...errors, "/docs/errors", "/openapi.json"]) assert.ok(pages.has(url), url);
});

test("the reference tells of every operation what a caller needs", async () => {
  const api = await testApi();
  const { text, headers } = await api.send("/docs");
  assert.match(String(headers["content-security-policy"]), /default-src 'none'/);
  assert.doesNotMatch(text, /<script|src=|@import|url\(/);
  const sections = new Map(
    text.split(/<section id="/).map((section) => [section.slice(0, section.indexOf('"')), section]),
  );
  for (const { operationId, method, path, body, query = {}, success, perMinute } of OPERATIONS) {
    const section = sections.get(operationId) ?? "";
    const fields = Object.keys({ ...query, ...body?.properties });
    const wanted = [
      `>${method}<`,
      `<code>${path}</code>`,
      "curl ",
      `tributary.${operationId}(`,
      String(success.status),
    ];
    for (const word of [...wanted, `At most ${perMinute} calls`, ...fields.map((field) => `<code>${field}</code>`)]) {
      assert.ok(section.includes(word), `${operationId} lacks ${word}`);
    }
  }
});

test("a page that was written in Markdown is served as that too, and any other text below /docs is not found", async () => {
  const api = await testApi();
  const page = "/docs/integrate/errors-and-retries";
  assert.match((await api.send(`${page}.md`)).text, /^# /);
  assert.match((await api.send(page)).text, /<h1>/);
  for (const url of [`${page}.md.md`, "/docs/integrate", "/docs/images", "/docs/errors/..%2f..%2fREADME", "/docs/"]) {
    assert.equal((await api.send(url)).status, 404, url);
  }
});

test("on a phone no page is wider than the screen, in light and in dark", { skip: skipWithoutChromium }, async () => {
  const api = await testApi();
  const origin = await api.server.listen({ host: "127.0.0.1", port: 0 });
  const browser = await openBrowser();
  try {
    for (const colorScheme of ["light", "dark"] as const) {
      const page = await browser.newPage({ viewport: { width: 390, height: 800 }, colorScheme });
      const asked: string[] = [];
      page.on("request", (request) => asked.push(request.url()));
      const urls = ["/docs", "/docs/errors", "/docs/errors/not_found", "/docs/integrate/errors-and-retries"];
      for (const url of urls) {
        await page.goto(`${origin}${url}`);
        // Folded things may be the widest.
        await page.locator("details").evaluateAll((all) => all.forEach((one) => one.setAttribute("open", "")));
        const width = await page.evaluate(() => document.documentElement.scrollWidth);
        assert.equal(width, 390, `${url} in ${colorScheme}`);
      }
      assert.deepEqual(
        asked,
        urls.map((url) => `${origin}${url}`),
        "nothing else is loaded",
      );
      await page.close();
    }
  } finally {
    await browser.close();
  }
});
