import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { after, before, describe, test } from "node:test";
import { createClient, type TributaryClient } from "@tributary/client";
import { build } from "esbuild";
import type { Browser } from "playwright-core";
import { DEV_ACCOUNTS } from "../../src/dev/devAccounts.ts";
import { skipWithoutChromium } from "../support/browser.ts";
import { useDevWorld } from "../support/devWorld.ts";
import { openMerchantSite, type MerchantSite } from "../support/merchantSite.ts";
import { sharedBrowser } from "../support/sharedBrowser.ts";

// The README's own lines in a shop's bundle, against the dev world as `npm start` runs it.

const WAIT_MS = 60_000;
const ROOT = new URL("../..", import.meta.url);
const README = readFileSync(new URL("packages/sdk/README.md", ROOT), "utf8");

/** The examples of the part about checking addresses, in their order. */
const [first = "", local = ""] = (README.split("## Check the address with your own code")[1] ?? "")
  .matchAll(/```js\n([\s\S]*?)```/g)
  .map(([, code = ""]) => code);

describe("the README's check of the payout", { skip: skipWithoutChromium }, () => {
  const world = useDevWorld();
  let browser: Browser;
  let shop: MerchantSite;
  let tributary: TributaryClient;
  before(async () => {
    browser = await sharedBrowser();
    shop = await openMerchantSite();
    const { baseUrl, accounts } = world.dev.ready;
    tributary = createClient({ baseUrl, apiKey: accounts[0]?.apiKey });
    await tributary.replacePageOrigins({ origins: [shop.origin] });
  });
  after(async () => {
    await shop.close();
  });

  /** Runs the shop's page with the example, and returns what the frame first told it. */
  async function firstEvent(source: string, payoutWallet?: string): Promise<readonly string[]> {
    const { baseUrl, accounts, chains } = world.dev.ready;
    const { intentId } = await tributary.createPaymentIntent({ priceUnits: 25_000_000, oneTime: true });
    const values = {
      intentId,
      // What the merchant knows of its account, never the answer under test.
      payoutWallet: payoutWallet ?? accounts[0]?.payoutWallet,
      token: chains[0]?.tokens.find(({ symbol }) => symbol === "USDC")?.address,
      chainId: chains[0]?.chainId,
      recovery: DEV_ACCOUNTS.recoveryFirst.address,
    };
    const contents = `import { configure } from "@tributary/sdk";
      configure({ baseUrl: "${baseUrl}/" });
      const note = (name) => (event) => { window.told ??= [name, event.message ?? ""]; };
      const { intentId, payoutWallet, token, chainId, recovery } = ${JSON.stringify(values)};
      ${source}`;
    const { outputFiles } = await build({
      stdin: { contents, resolveDir: ROOT.pathname, loader: "js" },
      bundle: true,
      write: false,
      format: "esm",
      external: ["http://*"],
    });
    const script = outputFiles[0]?.text.replaceAll("</script", String.raw`<\/script`);
    shop.html = `<!doctype html><html lang="en"><title>A shop</title><div id="pay"></div><script type="module">${script}</script>`;
    const page = await browser.newPage();
    try {
      await page.goto(shop.origin);
      await page.waitForFunction("window.told", undefined, { timeout: WAIT_MS });
      return await page.evaluate<string[]>("window.told");
    } finally {
      await page.close();
    }
  }

  /** The example with the listeners of this test, and this world's chain and address in place of those of the text. */
  function exampleOf(check: "published" | "local" | "local without bridges"): string {
    const listening = first.replace("  intentId,", '  intentId, onReady: note("ready"), onError: note("error"),');
    if (check === "published") return listening.replace("chainId: 8453", "chainId");
    const [importLine = "", call = ""] = local.trim().split("\n");
    assert.match(call, /^expectPayout\(.*, bridges \}\);$/);
    const imported = importLine.replace("http://127.0.0.1:8787", world.dev.ready.baseUrl);
    const example = `${imported}\n${listening.replace(/expectPayout\(\{.*\}\)/, call.replace(/;$/, ""))}`;
    return check === "local" ? example : example.replace(", bridges })", " })");
  }

  test("in the local world it agrees with a right payout, and refuses another wallet", async () => {
    assert.deepEqual(await firstEvent(exampleOf("local")), ["ready", ""]);
    assert.deepEqual(await firstEvent(exampleOf("local"), `0x${"ab".repeat(20)}`), ["error", "wrong_payout"]);
  });

  test("it says why it refuses where the recovery address or the bridges of the local world are not named", async () => {
    assert.deepEqual(await firstEvent(exampleOf("published")), ["error", "wrong_recovery"]);
    assert.deepEqual(await firstEvent(exampleOf("local without bridges")), ["error", "wrong_routes"]);
  });
});
