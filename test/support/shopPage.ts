import assert from "node:assert/strict";
import { after, before } from "node:test";
import type { Browser, Page } from "playwright-core";
import { addPageOrigin } from "../../src/merchant/pageOrigins.ts";
import { listenTestApi, testApi, type Json, type Merchant, type TestApi } from "./api.ts";
import { skipWithoutChromium } from "./browser.ts";
import { openMerchantSite, type MerchantSite } from "./merchantSite.ts";
import { sharedBrowser } from "./sharedBrowser.ts";

// Pages of merchants that use the SDK, with the service on another origin.

const WAIT_MS = 120_000;

/** Set before the first test. `shop` is on the merchant's list of page origins, `evil` is on none. */
export class Shops {
  api!: TestApi;
  base!: string;
  merchant!: Merchant;
  browser!: Browser;
  shop!: MerchantSite;
  evil!: MerchantSite;

  createIntent(body: object = {}): Promise<Json> {
    return this.merchant.createIntent({ priceUnits: 5_000_000, ...body });
  }

  /**
   * Opens a page of the shop whose module script runs `script` with `mount`, and collects the SDK's events in
   * `window.events`.
   */
  async withPage(
    script: string,
    use: (page: Page, consoleLines: string[]) => Promise<void>,
    {
      site = this.shop,
      head = "",
      body = `<main><h1>Shop</h1><div id="pay"></div><button id="buy">Buy</button></main>`,
      init = "",
      prepare = async (_page: Page): Promise<unknown> => undefined,
    } = {},
  ): Promise<void> {
    site.html = `<!doctype html><html lang="en"><title>A shop</title><script>window.events = []</script>${head}${body}<script type="module">
    import { mount } from "${this.base}/sdk/v1.js";
    const note = (name) => (event) => window.events.push([name, event.stage ?? event.code ?? ""]);
    const handlers = { onReady: note("ready"), onStatus: note("status"), onPaid: note("paid"), onError: note("error"), onClose: note("close") };
    ${script}
  </script>`;
    const context = await this.browser.newContext({ viewport: { width: 1_280, height: 800 } });
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
}

/**
 * `open`: the API of the service, by default the one that all tests of a process share. Another one is closed with the
 * shops.
 */
export function useShops(open: () => Promise<TestApi> = testApi): Shops {
  const shops = new Shops();
  before(async () => {
    shops.api = await open();
    shops.base = `http://127.0.0.1:${await listenTestApi(shops.api)}`;
    [shops.shop, shops.evil] = await Promise.all([openMerchantSite(), openMerchantSite()]);
    shops.merchant = await shops.api.openMerchant();
    await addPageOrigin(shops.api.world, { accountId: shops.merchant.accountId, origin: shops.shop.origin });
    if (skipWithoutChromium === false) shops.browser = await sharedBrowser();
  });
  after(async () => {
    await Promise.all([shops.shop.close(), shops.evil.close()]);
    if (open !== testApi) await shops.api.server.close();
  });
  return shops;
}

export const events = (page: Page) => page.evaluate("window.events") as Promise<[string, string][]>;
export const waitForEvent = (page: Page, name: string) =>
  page.waitForFunction(`window.events.some(([name]) => name === ${JSON.stringify(name)})`, undefined, {
    timeout: WAIT_MS,
  });
export const inFrame = (page: Page) => page.frameLocator("iframe");
