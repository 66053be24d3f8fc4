import type { Page } from "playwright-core";
import { PAGE_FILES, renderPage } from "../../src/http/checkout/page/renderPage.ts";
import { SAMPLES } from "../../packages/checkout/test/samples.ts";

const ORIGIN = "https://checkout.example";
const NOW = new Date("2026-11-22T14:32:00.000Z");

export type SampleOptions = {
  readonly locale?: string;
  readonly theme?: "light" | "dark";
  readonly mode?: "page" | "inline" | "modal";
};

/**
 * Opens a sample page as a service would send it. Its script runs against a service that knows this one state, so that states which take
 * hours or a broken provider to reach are drawn by the same code.
 */
export async function openSample(page: Page, name: string, options: SampleOptions = {}): Promise<void> {
  const sample = SAMPLES.get(name);
  if (sample === undefined) throw new Error(`there is no sample named ${name}`);
  const { html } = renderPage({ ...sample, ...options }, NOW);
  await page.unrouteAll();
  await page.clock.setFixedTime(NOW);
  await page.route(`${ORIGIN}/**`, async (route) => {
    const path = new URL(route.request().url()).pathname;
    const file = PAGE_FILES.find((each) => path.endsWith(`/${each.name}`));
    if (file !== undefined) return route.fulfill({ contentType: file.contentType, body: file.content });
    if (path.endsWith("/state")) return route.fulfill({ json: sample.state });
    if (path.endsWith("/origins")) return route.fulfill({ json: sample.origins });
    if (path.endsWith("/events")) return route.fulfill({ status: 429, json: {} });
    if (path.endsWith("/view")) return route.fulfill({ status: 202, json: { recorded: true } });
    return route.fulfill({ contentType: "text/html; charset=utf-8", body: html });
  });
  await page.goto(`${ORIGIN}/c/${sample.intentId}`);
}
