import assert from "node:assert/strict";
import { before, test } from "node:test";
import type { Browser, Page } from "playwright-core";
import { SAMPLES } from "../../packages/checkout/test/samples.ts";
import { renderPage } from "../../src/http/checkout/page/renderPage.ts";
import { skipWithoutChromium } from "../support/browser.ts";
import { sharedBrowser } from "../support/sharedBrowser.ts";
import { openSample } from "../support/checkoutSamples.ts";

// Wallets that fail at their worst moment, on a sample of the page: the money that they may have sent is never called
// unpaid.

const skip = skipWithoutChromium;
const NOW = Date.parse("2026-11-22T14:32:00.000Z");
const MINUTE = 60_000;

let browser: Browser | undefined;

before(async () => {
  if (skip === false) browser = await sharedBrowser();
});

/** `send` is the body of the wallet's answer to eth_sendTransaction. */
type Odd = { send: string; connect?: string; transaction?: string; receipt?: string; chainId?: string };

/** Opens the page with a wallet whose answers are pieces of script. */
async function withWallet(odd: Odd, use: (page: Page) => Promise<void>): Promise<void> {
  assert.ok(browser);
  const context = await browser.newContext({ viewport: { width: 1_280, height: 800 } });
  const page = await context.newPage();
  const errors: string[] = [];
  page.on("pageerror", (error) => errors.push(error.message));
  await page.addInitScript(`(() => {
    const fail = (code) => { throw Object.assign(new Error("odd"), { code }); };
    const hang = () => new Promise(() => {});
    let sent = null;
    window.sends = 0;
    const answers = {
      eth_requestAccounts: async () => { ${odd.connect ?? ""}; return ["0x1111111111111111111111111111111111111111"]; },
      eth_chainId: async () => ${odd.chainId ?? "window.chain ?? '0x2105'"},
      wallet_switchEthereumChain: async ([{ chainId }]) => { window.chain = chainId; return null; },
      eth_call: async () => "0x" + "f".repeat(12),
      eth_estimateGas: async () => "0x5208",
      eth_sendTransaction: async ([call]) => { window.sends += 1; sent = { to: call.to, input: call.data }; ${odd.send} },
      eth_getTransactionByHash: async () => (${odd.transaction ?? "null"}),
      eth_getTransactionReceipt: async () => (${odd.receipt ?? "null"}),
    };
    const provider = { request: ({ method, params = [] }) => answers[method](params) };
    const detail = { info: { uuid: "odd", name: "Odd", icon: "data:image/svg+xml,<svg xmlns='http://www.w3.org/2000/svg'/>" }, provider };
    const announce = () => dispatchEvent(new CustomEvent("eip6963:announceProvider", { detail }));
    addEventListener("eip6963:requestProvider", announce);
    announce();
  })()`);
  try {
    await openSample(page, "ready");
    await use(page);
    assert.deepEqual(errors, []);
  } finally {
    await context.close();
  }
}

const press = (page: Page) => page.getByText("Pay with Odd").click({ force: true });
const says = (page: Page, text: string) => page.locator("#wallet-note").getByText(text).waitFor();
const sends = (page: Page) => page.evaluate<number>("window.sends");
const HASH = `"0x" + "ab".repeat(32)`;

test("while a wallet has a request, another network does not get a second one", { skip }, async () => {
  await withWallet({ send: "return hang();" }, async (page) => {
    await press(page);
    await says(page, "Now confirm in Odd.");
    await page.waitForFunction("window.sends === 1");
    await page.locator("[data-do=change]").click();
    await says(page, "Now confirm in Odd.");
    await page.locator("#q").fill("arb");
    await page.locator(".opt").click();
    await page.getByRole("heading", { name: "Send 25.00 USDC on Arbitrum" }).waitFor();
    await says(page, "Now confirm in Odd.");
    assert.equal(await page.locator("[data-do=wallet]").first().getAttribute("aria-disabled"), "true");
    await press(page);
    assert.equal(await sends(page), 1);
  });
});

test(
  "a wallet that fails after it was asked may have sent: until the payer says no, also after a reload",
  { skip },
  async () => {
    await withWallet({ send: "fail(-32603);" }, async (page) => {
      await press(page);
      await says(page, "We do not know yet whether Odd has sent it.");
      assert.equal(await page.getByText("Nothing was paid").count(), 0);
      assert.match(await page.locator("[role=status]").first().innerText(), /We do not know yet/);
      await page.reload();
      await says(page, "We do not know yet whether Odd has sent it.");
      await press(page);
      assert.equal(await sends(page), 0, "the reloaded page asks for nothing");
      assert.equal(await page.locator("#deny").count(), 0);
      await page.clock.setFixedTime(NOW + 11 * MINUTE);
      await page.locator("#deny").click();
      await press(page);
      await page.waitForFunction("window.sends === 1");
    });
  },
);

test("only the person's own refusal is called one", { skip }, async () => {
  await withWallet({ send: "fail(4001);" }, async (page) => {
    await press(page);
    await says(page, "Odd did not send it. Nothing was paid: try again, or scan the code.");
    await press(page);
    await page.waitForFunction("window.sends === 2");
  });
  const inAnother = "throw { code: -32603, message: 'odd', data: { cause: { code: 4001 } } };";
  await withWallet({ send: inAnother }, async (page) => {
    await press(page);
    await says(page, "Odd did not send it. Nothing was paid: try again, or scan the code.");
  });
  await withWallet({ connect: "fail(-32002)", send: "" }, async (page) => {
    await press(page);
    await says(page, "Open Odd: a request waits there.");
  });
  await withWallet({ connect: "fail(-32603)", send: "" }, async (page) => {
    await press(page);
    await says(page, "Odd was not ready, and was asked for nothing.");
    assert.equal(await sends(page), 0);
  });
});

test(
  "a transfer that does not show is followed: slow, refused by the network, replaced, on another network",
  { skip },
  async () => {
    const slow = withWallet({ send: `return ${HASH};` }, async (page) => {
      await press(page);
      await says(page, "Odd has sent it. It appears here in a few seconds.");
      await page.clock.setFixedTime(NOW + 2 * MINUTE);
      await says(page, "Odd says that it has sent it, and Base does not show it yet.");
      await page.reload();
      await says(page, "Odd says that it has sent it, and Base does not show it yet.");
    });
    const refused = { send: `return ${HASH};`, transaction: "sent", receipt: '{ status: "0x0" }' };
    const reverted = withWallet(refused, async (page) => {
      await press(page);
      await says(page, "Base refused the transfer of Odd: nothing arrived.");
      assert.equal(await page.locator("[data-do=wallet]").first().getAttribute("aria-disabled"), null);
    });
    const accepted = { send: `return ${HASH};`, transaction: "sent", receipt: '{ status: "0x1" }' };
    const mined = withWallet(accepted, async (page) => {
      await press(page);
      await says(page, "Base has your transfer. It appears here in a moment.");
    });
    const replaced = withWallet(
      { send: `return ${HASH};`, transaction: "(window.asks = (window.asks ?? 0) + 1) > 1 ? null : sent" },
      async (page) => {
        await press(page);
        await says(page, "Base does not show this transfer any more: it was replaced or dropped.");
      },
    );
    const elsewhere = withWallet(
      {
        send: `window.isAway = true; return ${HASH};`,
        transaction: "sent",
        chainId: "window.isAway ? '0x1' : '0x2105'",
      },
      async (page) => {
        await press(page);
        await says(page, "Odd is on another network, and Base does not show the transfer.");
      },
    );
    await Promise.all([slow, reverted, mined, replaced, elsewhere]);
  },
);

test("what is printed while a wallet may have sent it says so, and offers no button", { skip }, async () => {
  await withWallet({ send: "fail(-32603);" }, async (page) => {
    await press(page);
    await says(page, "We do not know yet whether Odd has sent it.");
    await page.clock.setFixedTime(NOW + 11 * MINUTE);
    await page.locator("#deny").waitFor();
    await page.emulateMedia({ media: "print" });
    assert.equal(await page.locator("#wallet-note").isVisible(), true);
    assert.equal(await page.locator("#deny").isVisible(), false);
    assert.equal(await page.locator("[data-do=wallet]").first().isVisible(), false);
    assert.equal(await page.getByText("Nothing was paid").count(), 0);
    assert.equal(await page.getByText("Receipt", { exact: true }).isVisible(), false);
  });
});

test("without its script the page claims nothing about a request that a wallet has", { skip }, async () => {
  assert.ok(browser);
  const context = await browser.newContext({ javaScriptEnabled: false });
  try {
    const page = await context.newPage();
    const sample = SAMPLES.get("ready");
    assert.ok(sample);
    await page.setContent(renderPage(sample, new Date(NOW)).html);
    const text = (await page.locator("body").innerText()).replaceAll("\u00a0", " ");
    assert.match(text, /Send 25\.00 USDC on Base/);
    assert.doesNotMatch(text, /Nothing was paid|has sent it|was not ready|Pay with/);
    assert.match(text, /If you have sent it, do not send it again\./);
  } finally {
    await context.close();
  }
});
