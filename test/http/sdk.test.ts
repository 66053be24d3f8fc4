import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { after, before, test } from "node:test";
import { Checkout } from "@tributary/react";
import { build } from "esbuild";
import type { Browser, Page } from "playwright-core";
import { createElement } from "react";
import { addPageOrigin } from "../../src/merchant/pageOrigins.ts";
import { buildSdk } from "../../packages/sdk/scripts/buildSdk.ts";
import { testApi, type Json, type Merchant, type TestApi } from "../support/api.ts";
import { assertAccessible } from "../support/axe.ts";
import { openBrowser, skipWithoutChromium } from "../support/browser.ts";
import { openMerchantSite, type MerchantSite } from "../support/merchantSite.ts";

// The SDK in a merchant's page, with the service on another origin.

const skip = skipWithoutChromium;
const WAIT_MS = 20_000;

let api: TestApi;
let base: string;
let merchant: Merchant;
let browser: Browser | undefined;
let shop: MerchantSite;
let evil: MerchantSite;

before(async () => {
  api = await testApi();
  base = await api.server.listen({ host: "127.0.0.1", port: 0 });
  [shop, evil] = await Promise.all([openMerchantSite(), openMerchantSite()]);
  merchant = await api.openMerchant();
  await addPageOrigin(api.world, { accountId: merchant.accountId, origin: shop.origin });
  if (skip === false) browser = await openBrowser();
});

after(async () => {
  await browser?.close();
  await Promise.all([shop.close(), evil.close()]);
});

test("the served scripts are those of the sources, and any origin may read them", async () => {
  const served = {
    "v1.generated.js": "v1.js",
    "v1.global.generated.js": "v1.global.js",
    "v1.element.generated.js": "v1.element.js",
  };
  const built = await buildSdk();
  for (const [file, name] of Object.entries(served)) {
    const response = await api.send(`/sdk/${name}`);
    assert.equal(response.status, 200);
    assert.equal(response.headers["access-control-allow-origin"], "*");
    assert.equal(response.text, built[file], `${file} is stale: npm run served -w packages/sdk`);
    assert.equal(readFileSync(new URL(`../../packages/sdk/${file}`, import.meta.url), "utf8"), `${built[file]}\n`);
  }
});

/** Opens a page of the shop whose module script runs `script` with `mount`, and collects the SDK's events in `window.events`. */
async function withShop(
  script: string,
  use: (page: Page, consoleLines: string[]) => Promise<void>,
  {
    site = shop,
    head = "",
    body = `<main><h1>Shop</h1><div id="pay"></div><button id="buy">Buy</button></main>`,
    init = "",
    prepare = async (_page: Page): Promise<unknown> => undefined,
  } = {},
): Promise<void> {
  assert.ok(browser);
  site.html = `<!doctype html><html lang="en"><title>A shop</title><script>window.events = []</script>${head}${body}<script type="module">
    import { mount } from "${base}/sdk/v1.js";
    const note = (name) => (event) => window.events.push([name, event.stage ?? event.code ?? ""]);
    const handlers = { onReady: note("ready"), onStatus: note("status"), onPaid: note("paid"), onError: note("error"), onClose: note("close") };
    ${script}
  </script>`;
  const context = await browser.newContext({ viewport: { width: 1_280, height: 800 } });
  const page = await context.newPage();
  await page.addInitScript(init);
  await prepare(page);
  const consoleLines: string[] = [];
  const errors: string[] = [];
  page.on("console", (message) => consoleLines.push(message.text()));
  page.on("pageerror", (error) => errors.push(error.message));
  try {
    await page.goto(site.origin);
    await use(page, consoleLines);
    assert.deepEqual(errors, []);
  } finally {
    await context.close();
  }
}

const createIntent = (): Promise<Json> => merchant.createIntent({ priceUnits: 5_000_000 });
const events = (page: Page) => page.evaluate("window.events") as Promise<[string, string][]>;
const waitForEvent = (page: Page, name: string) =>
  page.waitForFunction(`window.events.some(([name]) => name === ${JSON.stringify(name)})`, undefined, {
    timeout: WAIT_MS,
  });
const inFrame = (page: Page) => page.frameLocator("iframe");

test(
  "D39 inline: the frame shows the payment, follows its height, and reports ready and status",
  { skip },
  async () => {
    const { intentId } = await createIntent();
    await withShop(
      `window.checkout = mount({ intentId: "${intentId}", target: "#pay", ...handlers });`,
      async (page, lines) => {
        await waitForEvent(page, "status");
        assert.deepEqual(await events(page), [
          ["ready", ""],
          ["status", "waiting"],
        ]);
        await inFrame(page).locator("main[data-screen]").waitFor();
        assert.match(String(await page.locator("iframe").getAttribute("title")), /5\.00/);
        await page.waitForFunction("parseInt(document.querySelector('iframe').style.height) !== 640");
        const height = Number.parseInt(
          String(await page.evaluate("document.querySelector('iframe').style.height")),
          10,
        );
        assert.ok(height >= 320 && height <= 2_400, String(height));
        assert.equal(new URL(page.frames()[1]?.url() ?? "").hash, "");
        await assertAccessible(page);
        await page.evaluate("window.checkout.unmount(); window.checkout.unmount()");
        assert.equal(await page.locator("iframe").count(), 0);
        assert.deepEqual(lines, []);
      },
    );
  },
);

test("D39 an unlisted site gets an error event and no frame", { skip }, async () => {
  const { intentId } = await createIntent();
  await withShop(
    `mount({ intentId: "${intentId}", ...handlers });`,
    async (page) => {
      await waitForEvent(page, "error");
      assert.deepEqual(await events(page), [["error", "not_opened"]]);
      assert.equal(await page.locator("iframe").count(), 0);
    },
    { site: evil },
  );
});

test("D39 messages of other windows and other origins change nothing", { skip }, async () => {
  const { intentId } = await createIntent();
  const script = `mount({ intentId: "${intentId}", target: "#pay", ...handlers });`;
  await withShop(script, async (page) => {
    await waitForEvent(page, "status");
    await inFrame(page).locator("main[data-screen]").waitFor();
    await page.evaluate(`{
      const { style } = document.querySelector("iframe");
      window.heights = [];
      new MutationObserver(() => window.heights.push(parseInt(style.height))).observe(
        document.querySelector("iframe"), { attributes: true });
    }`);
    // The shop's own window, then a frame of another origin, posts what the checkout's frame would.
    await page.evaluate(`postMessage({ type: "tributary:status", stage: "paid" }, "*")`);
    await page.evaluate(`new Promise((resolve) => {
      const frame = document.createElement("iframe");
      frame.onload = resolve;
      frame.src = ${JSON.stringify(evil.origin)};
      document.body.append(frame);
    })`);
    const foreign = page.frames().find((frame) => frame.url().startsWith(evil.origin));
    assert.ok(foreign);
    await foreign.evaluate(`parent.postMessage({ type: "tributary:status", stage: "paid" }, "*");
      parent.postMessage({ type: "tributary:size", height: 1 }, "*");
      parent.frames[0].postMessage({ type: "tributary:announce", uuid: "x", name: "Forged Wallet" }, "*")`);
    // Sizes beyond the bounds, from the right window.
    const checkout = page.frames().find((frame) => frame.url().startsWith(base));
    assert.ok(checkout);
    await checkout.evaluate(
      `parent.postMessage({ type: "tributary:size", height: 9e9 }, ${JSON.stringify(shop.origin)})`,
    );
    await page.waitForFunction("window.heights.includes(2400)");
    assert.equal(await page.evaluate("window.heights.includes(320)"), false);
    assert.deepEqual(await events(page), [
      ["ready", ""],
      ["status", "waiting"],
    ]);
    assert.equal(await inFrame(page).first().getByText("Forged Wallet").count(), 0);
  });
});

test(
  "D39 modal: focus goes in and comes back, Esc closes from both sides, the page behind is inert",
  { skip },
  async () => {
    const { intentId } = await createIntent();
    const script = `document.querySelector("#buy").onclick = () => mount({ intentId: "${intentId}", ...handlers });`;
    await withShop(script, async (page) => {
      const buy = page.locator("#buy");
      await buy.focus();
      await page.keyboard.press("Enter");
      await waitForEvent(page, "ready");
      const dialog = page.getByRole("dialog");
      assert.match(String(await dialog.getAttribute("aria-label")), /5\.00/);
      const close = page.getByRole("button", { name: "Close" });
      assert.equal(await page.evaluate("document.activeElement.shadowRoot.activeElement.tagName"), "BUTTON");
      assert.equal(await page.evaluate("document.documentElement.style.overflow"), "hidden");
      await assertAccessible(page);
      // A press on the ground does not close.
      await page.mouse.click(4, 4);
      assert.equal(await dialog.isVisible(), true);
      await page.keyboard.press("Escape");
      await waitForEvent(page, "close");
      assert.equal(await page.evaluate("document.activeElement.id"), "buy");
      assert.equal(await page.evaluate("document.documentElement.style.overflow"), "");

      await page.evaluate("window.events = []");
      await page.keyboard.press("Enter");
      await waitForEvent(page, "ready");
      await page.keyboard.press("Tab");
      await page.waitForFunction("document.activeElement.shadowRoot.activeElement.tagName === 'IFRAME'");
      await page.keyboard.press("Escape");
      await waitForEvent(page, "close");

      await page.evaluate("window.events = []");
      await page.keyboard.press("Enter");
      await waitForEvent(page, "ready");
      await close.click();
      await waitForEvent(page, "close");
      assert.equal(await page.locator("iframe").count(), 0);
    });
  },
);

test("D39 redirect opens the checkout's own page with a ticket", { skip }, async () => {
  const { intentId } = await createIntent();
  await withShop(`mount({ intentId: "${intentId}", mode: "redirect", locale: "de", ...handlers });`, async (page) => {
    await page.waitForURL(`${base}/c/${intentId}?locale=de`, { timeout: WAIT_MS });
    await page.locator("html[lang=de] main[data-screen=ready], html[lang=de] main[data-screen=choose]").waitFor();
  });
});

test("D39 twice, before the document is ready, and without a target", { skip }, async () => {
  const { intentId } = await createIntent();
  const head = `<script src="${base}/sdk/v1.global.js"></script><script>
    const early = Tributary.mount({ intentId: "${intentId}", target: "#pay" });
    early.on("ready", () => window.events.push(["early", ""]));
    Tributary.mount({ intentId: "${intentId}", target: "#pay" });
    Tributary.mount({ intentId: "${intentId}", target: "#missing", onError: ({ code }) => window.events.push(["missing", code]) });
  </script>`;
  await withShop(
    "",
    async (page) => {
      await waitForEvent(page, "early");
      assert.equal(await page.locator("iframe").count(), 1);
      assert.deepEqual(
        (await events(page)).toSorted(),
        [
          ["early", ""],
          ["missing", "no_target"],
        ].toSorted(),
      );
    },
    { head },
  );
  await withShop(
    `const one = mount({ intentId: "${intentId}", target: "#pay", ...handlers });
     window.same = one === mount({ intentId: "${intentId}", target: "#pay" });
     one.unmount();
     mount({ intentId: "${intentId}", target: "#pay", ...handlers });`,
    async (page) => {
      await waitForEvent(page, "ready");
      assert.equal(await page.evaluate("window.same"), true);
      assert.equal(await page.locator("iframe").count(), 1);
    },
  );
});

test("D39 the element shows the checkout, and sends its events", { skip }, async () => {
  const { intentId } = await createIntent();
  const body = `<main><h1>Shop</h1><tributary-checkout intent-id="${intentId}" locale="fr"></tributary-checkout></main>
    <script>document.querySelector("tributary-checkout").addEventListener("tributary:ready", ({ detail }) => window.events.push(["ready", detail.intentId]))</script>
    <script type="module" src="${base}/sdk/v1.element.js"></script>`;
  await withShop(
    "",
    async (page) => {
      await waitForEvent(page, "ready");
      assert.deepEqual(await events(page), [["ready", intentId]]);
      await inFrame(page).locator("html[lang=fr]").waitFor();
      await page.evaluate(`document.querySelector("tributary-checkout").remove()`);
      assert.equal(await page.locator("iframe").count(), 0);
    },
    { body },
  );
});

test("D38 a frame whose browser keeps no cookies holds its session in memory", { skip }, async () => {
  const { intentId } = await createIntent();
  const init = `if (window.parent !== window) Object.defineProperty(document, "cookie", { get: () => "", set() {} })`;
  await withShop(
    `mount({ intentId: "${intentId}", target: "#pay", ...handlers });`,
    async (page) => {
      const following = page.waitForRequest((request) => request.url().endsWith("/events"), { timeout: WAIT_MS });
      await waitForEvent(page, "status");
      assert.match((await following).headers()["authorization"] ?? "", /^Bearer cs_/);
      assert.deepEqual(await page.context().cookies(), []);
    },
    { init },
  );
});

/** The merchant's own bundle: the packages instead of the served scripts. */
async function bundle(source: string): Promise<string> {
  const { outputFiles } = await build({
    stdin: { contents: source, resolveDir: new URL("../..", import.meta.url).pathname, loader: "js" },
    bundle: true,
    write: false,
    format: "iife",
    define: { "process.env.NODE_ENV": '"development"' },
  });
  return `<script>${outputFiles[0]?.text.replaceAll("</script", String.raw`<\/script`)}</script>`;
}

test("D39 the frame shows nothing until the merchant's own code agrees with every address", { skip }, async () => {
  const intent = await createIntent();
  const { payout, inboxTerms } = intent;
  const open = (payoutWallet: string) =>
    bundle(`
      import { configure, mount } from "@tributary/sdk";
      import { expectPayout } from "@tributary/sdk/verify";
      configure({ baseUrl: "${base}/" });
      const check = expectPayout({ payoutWallet: "${payoutWallet}", token: "${payout.tokenAddress}", chainId: ${payout.chainReference},
        feeBpsMax: ${intent.feeBps}, recovery: "${inboxTerms.recovery}", routesRoot: "${inboxTerms.routesRoot}" });
      window.seen = [];
      mount({ intentId: "${intent.intentId}", target: "#pay", onReady: () => window.events.push(["ready", ""]),
        onError: ({ code }) => window.events.push(["error", code]),
        expectedPayout: (shown) => {
          window.seen.push(document.querySelector("iframe").style.visibility);
          return check(shown);
        } });
    `);
  const head = await open(payout.wallet);
  await withShop(
    "",
    async (page) => {
      await waitForEvent(page, "ready");
      assert.deepEqual(await page.evaluate("window.seen"), ["hidden"]);
      assert.equal(await page.locator("iframe").isVisible(), true);
    },
    { head },
  );
  // The service names another wallet than the merchant's.
  const other = await open(`0x${"ab".repeat(20)}`);
  await withShop(
    "",
    async (page) => {
      await waitForEvent(page, "error");
      assert.deepEqual(await events(page), [["error", "not_verified"]]);
      assert.deepEqual(await page.evaluate("window.seen"), ["hidden"]);
      assert.equal(await page.locator("iframe").count(), 0);
    },
    { head: other },
  );
  // The address is another one than the terms give.
  await withShop(
    "",
    async (page) => {
      await waitForEvent(page, "error");
      assert.deepEqual(await events(page), [["error", "not_verified"]]);
      assert.equal(await page.locator("iframe").count(), 0);
    },
    {
      head,
      prepare: (page) =>
        page.route("**/session", async (route) => {
          const response = await route.fetch();
          const body = (await response.text()).replaceAll(intent.inboxAddress, `0x${"12".repeat(20)}`);
          await route.fulfill({ response, body });
        }),
    },
  );
});

test("wallets of the shop's page are relayed with three methods and for a token transfer alone", { skip }, async () => {
  const { intentId, inboxAddress } = await createIntent();
  const init = `if (window.parent === window) {
    window.calls = [];
    const provider = { request: async ({ method, params }) => {
      window.calls.push({ method, params });
      return method === "eth_requestAccounts" ? ["0x${"11".repeat(20)}"] : null;
    } };
    const detail = Object.freeze({ info: { uuid: "one", name: "Shop Wallet", icon: "data:image/png;base64,AA==", rdns: "x" }, provider });
    addEventListener("eip6963:requestProvider", () => dispatchEvent(new CustomEvent("eip6963:announceProvider", { detail })));
  }`;
  await withShop(
    `mount({ intentId: "${intentId}", target: "#pay", ...handlers });`,
    async (page) => {
      await waitForEvent(page, "ready");
      const frame = inFrame(page);
      await frame.locator("main[data-screen]").waitFor();
      if (await frame.locator("main[data-screen=choose]").isVisible()) await frame.locator(".opt.first").click();
      await frame.getByText("Pay with Shop Wallet").click();
      await page.waitForFunction("window.calls.length === 3");
      const calls = (await page.evaluate("window.calls")) as { method: string; params: [{ data?: string }] }[];
      assert.deepEqual(
        calls.map(({ method }) => method),
        ["eth_requestAccounts", "wallet_switchEthereumChain", "eth_sendTransaction"],
      );
      const recipient = inboxAddress.slice(2).toLowerCase().padStart(64, "0");
      assert.equal(calls[2]?.params[0].data, `0xa9059cbb${recipient}${(5_000_000).toString(16).padStart(64, "0")}`);

      const checkout = page.frames().find((each) => each.url().startsWith(base));
      assert.ok(checkout);
      const transfer = { to: "0x1", data: `0x095ea7b3${"0".repeat(128)}` };
      for (const [method, parameters] of [
        ["personal_sign", []],
        ["eth_sendTransaction", [transfer]],
        ["eth_sendTransaction", []],
      ]) {
        const error: unknown = await checkout.evaluate(`new Promise((resolve) => {
          addEventListener("message", ({ data }) => data.call === 99 && resolve(data.error.message), { once: true });
          parent.postMessage({ type: "tributary:wallet", call: 99, wallet: "one", method: ${JSON.stringify(method)},
            params: ${JSON.stringify(parameters)} }, ${JSON.stringify(shop.origin)});
        })`);
        assert.equal(error, "not relayed");
      }
      assert.equal(await page.evaluate("window.calls.length"), 3);
    },
    { init },
  );
});

test("the React component works in StrictMode, on a server, and through changes", { skip }, async () => {
  const { intentId } = await createIntent();
  const other = await createIntent();
  const head = await bundle(`
    import { StrictMode, createElement as h } from "react";
    import { createRoot } from "react-dom/client";
    import { configure } from "@tributary/sdk";
    import { Checkout } from "@tributary/react";
    configure({ baseUrl: "${base}" });
    addEventListener("DOMContentLoaded", () => {
      const root = createRoot(document.querySelector("#pay"));
      window.show = (props) => root.render(h(StrictMode, null, props && h(Checkout, { ...props,
        onReady: ({ intentId }) => window.events.push(["ready", intentId]) })));
      window.show({ intentId: "${intentId}" });
    });
  `);
  await withShop(
    "",
    async (page) => {
      await waitForEvent(page, "ready");
      assert.equal(await page.locator("iframe").count(), 1);
      assert.deepEqual(await events(page), [["ready", intentId]]);
      await page.evaluate(
        `window.events = []; window.show({ intentId: ${JSON.stringify(other.intentId)}, locale: "es" })`,
      );
      await waitForEvent(page, "ready");
      assert.deepEqual(await events(page), [["ready", other.intentId]]);
      assert.equal(await page.locator("iframe").count(), 1);
      await page.evaluate("window.show(null)");
      await page.locator("iframe").waitFor({ state: "detached" });
    },
    { head },
  );
  const server: { renderToString(element: object): string } = createRequire(
    new URL("../../packages/react/package.json", import.meta.url),
  )("react-dom/server");
  const html = server.renderToString(createElement(Checkout, { intentId, className: "here" }));
  assert.equal(html, '<div class="here"></div>');
});
