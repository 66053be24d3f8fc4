import type { Page, Route } from "playwright-core";
import type { CheckoutPage } from "@tributary/checkout/checkoutState";
import { SAMPLES } from "../../packages/checkout/test/samples.ts";
import { PAGE_FILES, renderPage } from "../../src/http/checkout/page/renderPage.ts";

const ORIGIN = "https://checkout.example";
const NOW = new Date("2026-11-22T14:32:00.000Z");

export type SampleOptions = {
  readonly locale?: string;
  readonly theme?: "light" | "dark";
  readonly mode?: "page" | "inline" | "modal";
};

/** Screens that a sample reaches by a press, or while its service is away. */
const REACHED: Readonly<Record<string, { sample: string; press?: string; isAway?: boolean }>> = {
  choose: { sample: "ready", press: '[data-do="change"]' },
  address: { sample: "ready", press: '[for="way-address"]' },
  payAgain: { sample: "wrongToken", press: '[data-do="pay"]' },
  offline: { sample: "ready", isAway: true },
  down: { sample: "opening", isAway: true },
};

/** Every screen of the page. */
export const SCREENS: readonly string[] = [...SAMPLES.keys(), ...Object.keys(REACHED)];

/**
 * Opens a screen as a service would send it. Its script runs against a service that knows this one state, so that states which take
 * hours or a broken provider to reach are drawn by the same code.
 */
export async function openSample(page: Page, name: string, options: SampleOptions = {}): Promise<void> {
  const { sample: sampleName, press, isAway } = REACHED[name] ?? { sample: name };
  const sample = SAMPLES.get(sampleName);
  if (sample === undefined) throw new Error(`there is no sample named ${name}`);
  await page.unrouteAll();
  await page.clock.setFixedTime(NOW);
  await page.route(`${ORIGIN}/**`, (route) => answer(route, { ...sample, ...options }, isAway === true));
  await page.goto(`${ORIGIN}/c/${sample.intentId}`);
  await page.waitForFunction("document.querySelector('#root main, #root footer') !== null");
  if (isAway === true) await page.locator(".banner, [data-screen=down]").first().waitFor();
  if (press !== undefined) await page.locator(press).first().click();
}

async function answer(route: Route, sample: CheckoutPage, isAway: boolean): Promise<void> {
  const path = new URL(route.request().url()).pathname;
  const file = PAGE_FILES.find(({ name }) => path.endsWith(`/${name}`));
  if (file !== undefined) return route.fulfill({ contentType: file.contentType, body: file.content });
  if (path === `/c/${sample.intentId}`) {
    const { html } = renderPage(sample, NOW);
    return route.fulfill({ contentType: "text/html; charset=utf-8", body: html });
  }
  if (isAway) return route.abort();
  if (path.endsWith("/events")) return route.fulfill({ status: 429, json: {} });
  if (path.endsWith("/origins")) return route.fulfill({ json: sample.origins });
  if (path.endsWith("/view")) return route.fulfill({ status: 202, json: { recorded: true } });
  // A page that opens keeps waiting for its state.
  if (sample.state !== null) await route.fulfill({ json: sample.state });
}
