import { pathToFileURL } from "node:url";
import type { Browser, Page } from "playwright-core";
import { PAGE_PATH } from "../../packages/recover/scripts/buildPage.ts";
import { watchPage, type RoutedService } from "./recoveryPage.ts";
import { installStandardWallet, type AskedWallet, type StandardWalletOptions } from "./standardWallet.ts";

// The offline recovery page with a wallet of the Wallet Standard.

type Opening = StandardWalletOptions & {
  /** Requests to it are expected. */
  rpcUrl: string;
  service?: RoutedService | undefined;
  width?: number;
};

export type SolanaRecoveryPage = {
  page: Page;
  /** Errors of the page, and its requests to other places than the RPC URL. */
  errors: string[];
  asked: AskedWallet;
};

/**
 * Opens the page with a wallet of the first key. It changes to the next key when the page calls
 * `window.switchAccount(address)`.
 */
export async function openSolanaRecoveryPage(browser: Browser, opening: Opening): Promise<SolanaRecoveryPage> {
  const { rpcUrl, service, width = 390, ...wallet } = opening;
  const page = await browser.newPage({ viewport: { width, height: 844 } });
  const isExpected = (url: string) => url.startsWith("file:") || url.startsWith(rpcUrl);
  const errors = await watchPage(page, { isExpected, service });
  const asked = await installStandardWallet(page, wallet);
  await page.goto(pathToFileURL(PAGE_PATH).href);
  return { page, errors, asked };
}
