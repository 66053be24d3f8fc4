import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { chromium, type Browser, type BrowserContext } from "playwright-core";

/** The first draws no windows around its pages, and takes a third of the processor time. */
const PLACES = [
  "/usr/bin/chromium-headless-shell",
  "/usr/bin/chromium",
  "/usr/bin/chromium-browser",
  "/usr/bin/google-chrome",
  "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
];

/** Longer than the default of 30 seconds, which a busy machine may need. */
const WAIT_MS_MAX = 120_000;

/** Finds a Chromium on this machine: the one in CHROMIUM_PATH, else one in a usual place. */
function findChromium(): string | undefined {
  const named = process.env["CHROMIUM_PATH"];
  return [...(named === undefined ? [] : [named]), ...PLACES].find((path) => existsSync(path));
}

/**
 * The reason to skip a test without a browser; false when one exists. With CI=true a missing browser fails the test.
 */
export const skipWithoutChromium: string | false =
  findChromium() === undefined && process.env["CI"] !== "true"
    ? "no Chromium found: install it or set CHROMIUM_PATH"
    : false;

/** The headless shell knows no settings of a person. */
const WITH_SETTINGS = PLACES.slice(1).find((path) => existsSync(path));

/** The reason to skip a test of a browser with settings; false when one exists. */
export const skipWithoutSettings: string | false =
  WITH_SETTINGS === undefined ? "no Chromium with settings found: the headless shell has none" : false;

/** A browser whose owner blocks all cookies, and with them every storage. `folder` is empty. */
export async function openWithoutCookies(folder: string): Promise<BrowserContext> {
  mkdirSync(join(folder, "Default"));
  const settings = { profile: { default_content_setting_values: { cookies: 2 } } };
  writeFileSync(join(folder, "Default", "Preferences"), JSON.stringify(settings));
  return chromium.launchPersistentContext(folder, {
    executablePath: WITH_SETTINGS ?? "",
    args: ["--no-sandbox", "--disable-dev-shm-usage"],
  });
}

export async function openBrowser(): Promise<Browser> {
  const executablePath = findChromium();
  if (executablePath === undefined) throw new Error("no Chromium found: install it or set CHROMIUM_PATH");
  const browser = await chromium.launch({ executablePath, args: ["--no-sandbox", "--disable-dev-shm-usage"] });
  const newContext = browser.newContext.bind(browser);
  browser.newContext = async (options) => {
    // Drawing what moves takes a third of the processor time of these tests, and none of them asserts a movement.
    const context = await newContext({ reducedMotion: "reduce", ...options });
    context.setDefaultTimeout(WAIT_MS_MAX);
    return context;
  };
  return browser;
}
