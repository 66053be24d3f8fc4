import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import type { Page } from "playwright-core";

/** Installs the burner wallet before the page loads. Returns a function that reads the address of the wallet's new key. */
export async function installBurnerWallet(page: Page): Promise<() => Promise<string>> {
  const { outputFiles } = await build({
    entryPoints: [fileURLToPath(new URL("burnerPage.ts", import.meta.url))],
    bundle: true,
    format: "iife",
    platform: "browser",
    define: { global: "globalThis", "process.env.NODE_ENV": '"production"' },
    write: false,
  });
  await page.addInitScript(outputFiles[0]?.text ?? "");
  return () => page.evaluate<string>("window.burnerAddress()");
}
