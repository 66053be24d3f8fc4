import { pathToFileURL } from "node:url";
import type { Browser, Page } from "playwright-core";
import type { Hex } from "viem";
import { PAGE_PATH } from "../../packages/recover/scripts/buildPage.ts";
import { sendCalls } from "../../src/dev/chains/devClient.ts";
import type { DevAccount } from "../../src/dev/devAccounts.ts";
import type { TestChain } from "./chain.ts";

// The offline recovery page in a real browser, opened from its file, with a wallet that announces itself by EIP-6963
// and signs for one account.

export type RecoveryPage = {
  page: Page;
  /** Errors of the page, and its requests other than the ones that a test routes. */
  errors: string[];
};

type Opening = {
  account: DevAccount;
  /** The network that the wallet is on now. */
  chain: () => TestChain;
  intents: unknown;
  service?: RoutedService;
};

/** Requests that begin with the URL are expected, and get these answers. */
export type RoutedService = { url: string; answer: (path: string, method: string) => Promise<Response> };

export async function openRecoveryPage(browser: Browser, opening: Opening): Promise<RecoveryPage> {
  const { account, chain, intents, service } = opening;
  const page = await browser.newPage({ viewport: { width: 390, height: 844 } });
  const errors = await watchPage(page, { isExpected: (url) => url.startsWith("file:"), service });
  await page.exposeFunction("askWallet", (method: string, params: unknown[]) =>
    answer(chain(), account, { method, params }),
  );
  await page.addInitScript(() => {
    const ask = (window as unknown as { askWallet: (method: string, params: unknown) => Promise<unknown> }).askWallet;
    const provider = {
      request: ({ method, params = [] }: { method: string; params?: unknown }) => ask(method, params),
      on: () => {},
    };
    const announce = () =>
      window.dispatchEvent(
        new CustomEvent("eip6963:announceProvider", {
          detail: { info: { uuid: "1", name: "Test Wallet" }, provider },
        }),
      );
    window.addEventListener("eip6963:requestProvider", announce);
  });
  await page.goto(pathToFileURL(PAGE_PATH).href);
  await page.getByLabel("Intents as JSON").fill(JSON.stringify(intents));
  await page.getByRole("button", { name: "Connect Test Wallet" }).click();
  return { page, errors };
}

/** Collects the errors of a page, and the addresses of the requests that nobody expects. */
export async function watchPage(
  page: Page,
  { isExpected, service }: { isExpected: (url: string) => boolean; service: RoutedService | undefined },
): Promise<string[]> {
  const errors: string[] = [];
  page.on("pageerror", (error) => errors.push(error.message));
  page.on("console", (message) => message.type() === "error" && errors.push(message.text()));
  page.on("request", (request) => {
    const isRouted = service !== undefined && request.url().startsWith(service.url);
    if (!isRouted && !isExpected(request.url())) errors.push(request.url());
  });
  if (service !== undefined)
    await page.route(`${service.url}/**`, async (route) => {
      const path = route.request().url().slice(service.url.length);
      const response = await service.answer(path, route.request().method());
      const headers = { "access-control-allow-origin": "*", "content-type": "application/json" };
      await route.fulfill({ status: response.status, body: await response.text(), headers });
    });
  return errors;
}

type WalletRequest = { method: string; params: unknown[] };

async function answer(chain: TestChain, account: DevAccount, { method, params }: WalletRequest): Promise<unknown> {
  if (method === "eth_requestAccounts") return [account.address];
  if (method === "eth_sendTransaction") {
    const [{ to, data, gas }] = params as [{ to: Hex; data: Hex; gas: Hex }];
    const [receipt] = await sendCalls(chain.client, account, [{ to, data, gasLimit: BigInt(gas) }]);
    return receipt?.transactionHash;
  }
  return chain.client.request<{ Method: string; Parameters: unknown[]; ReturnType: unknown }>({ method, params });
}
