import type { Page, Route } from "playwright-core";
import type { CheckoutPage } from "@tributary/checkout/checkoutState";
import { SAMPLES } from "../../packages/checkout/test/samples.ts";
import { PAGE_FILES, renderPage } from "../../src/http/checkout/page/renderPage.ts";

const ORIGIN = "https://checkout.example";
const NOW = new Date("2026-11-22T14:32:00.000Z");

const HANDOFF = {
  code: "hc_sample",
  url: `${ORIGIN}/c/pi_sample?handoff=hc_sample`,
  expiresAt: "2026-11-22T14:34:00.000Z",
};
/** The network of the sample whose service lost an address to somebody. */
const FORGED_NETWORK = "Ethereum";
const FORGED_ADDRESS = "0x3333333333333333333333333333333333333333";

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
 * Opens a screen as a service would send it. Its script runs against a service that knows this one state, so that
 * states which take hours or a broken provider to reach are drawn by the same code.
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
  if (path.endsWith("/source-inbox")) return answerChoice(route, sample);
  if (path.endsWith("/handoff")) return route.fulfill({ status: 201, json: HANDOFF });
  if (path.endsWith("/view")) return route.fulfill({ status: 202, json: { recorded: true } });
  // A page that opens keeps waiting for its state.
  if (sample.state !== null) await route.fulfill({ json: sample.state });
}

/**
 * Issues the payment's address on any network, because it is the same on every EVM chain; on one network it is forged.
 */
function answerChoice(route: Route, { origins, state }: CheckoutPage): Promise<void> {
  const { originId } = route.request().postDataJSON() as { originId: string };
  const origin = origins?.origins.find((each) => each.originId === originId);
  const [inbox] = state?.inboxes ?? [];
  if (origin === undefined || inbox === undefined) return route.fulfill({ status: 400, json: {} });
  const { networkName, reference } = origin;
  const address = networkName === FORGED_NETWORK ? FORGED_ADDRESS : inbox.address;
  const json = { ...inbox, address, networkName, reference, originIds: [originId], isPayoutInbox: false };
  return route.fulfill({ status: 201, json });
}
