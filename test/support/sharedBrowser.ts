import { after } from "node:test";
import type { Browser } from "playwright-core";
import { openBrowser } from "./browser.ts";

// A browser takes a processor second to start, so a test process has one. It ends after the last test. Each test opens
// a context of its own.

let opened: Promise<Browser> | undefined;

after(async () => (await opened?.catch(() => undefined))?.close());

/** The browser of this process. Tests close their contexts, not the browser. */
export function sharedBrowser(): Promise<Browser> {
  return (opened ??= openBrowser());
}
