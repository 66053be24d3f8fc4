import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { test } from "node:test";
import { SOLANA_ACCOUNTS } from "../../packages/local-solana/src/fixtures.ts";
import { createLocalIntent, openLocalSolanaApi } from "../support/localSolanaApi.ts";
import { skipWithoutChromium } from "../support/browser.ts";
import { sharedBrowser } from "../support/sharedBrowser.ts";
import { startTestSolana } from "../support/solana.ts";

/** The requests of `fetchTransaction` in @solana/pay, with its headers and options. */
const ASK = `async ({ link, account }) => {
  const init = { mode: "cors", cache: "no-cache", credentials: "omit" };
  const headers = { Accept: "application/json", "Content-Type": "application/json", "Cache-Control": "no-cache" };
  const described = await fetch(link, { ...init, headers });
  const answered = await fetch(link, { ...init, method: "POST", headers, body: JSON.stringify({ account }) });
  return [(await described.json()).label, answered.status, typeof (await answered.json()).transaction];
}`;

test(
  "a wallet in a browser's page of another origin gets the transaction as @solana/pay asks for it",
  { skip: skipWithoutChromium },
  async (t) => {
    const solana = await startTestSolana({ name: "solana pay in a browser" });
    const api = await openLocalSolanaApi(solana);
    const base = await api.server.listen({ host: "127.0.0.1", port: 0 });
    const wallet = createServer((_request, response) =>
      response.setHeader("content-type", "text/html").end("<p>"),
    ).listen(0, "127.0.0.1");
    await once(wallet, "listening");
    const context = await (await sharedBrowser()).newContext();
    t.after(async () => {
      await context.close();
      wallet.close();
      await api.server.close();
    });
    const intent = await createLocalIntent(await api.openMerchant(), solana);
    const page = await context.newPage();
    await page.goto(`http://localhost:${(wallet.address() as AddressInfo).port}/`);
    const input = { link: `${base}/c/${intent.intentId}/solana-pay`, account: SOLANA_ACCOUNTS.payer.address };
    const answers: unknown = await page.evaluate(`(${ASK})(${JSON.stringify(input)})`);
    assert.deepEqual(answers, ["Test", 200, "string"]);
  },
);
