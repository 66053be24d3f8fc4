import type { Page } from "playwright-core";
import { bundlePage } from "./bundlePage.ts";

/**
 * Installs the burner wallet before the page loads. Returns a function that reads the address of the wallet's new key.
 */
export async function installBurnerWallet(page: Page): Promise<() => Promise<string>> {
  await page.addInitScript(await bundlePage("burnerPage.ts"));
  return () => page.evaluate<string>("window.burnerAddress()");
}
