import type { Browser } from "playwright-core";
import { findPort } from "../../../src/dev/findPort.ts";
import { createApiClient } from "../../../src/operator/client/apiClient.ts";
import { openBrowser } from "../../support/browser.ts";
import { startDevProcess, temporaryFolder } from "../../support/cli.ts";
import { sized } from "../sized.ts";

// How soon a payer sees the payment after the press on a link, on a slow phone in a slow network: the largest
// contentful paint of the page opened with its token, at a quarter of this machine's processor. Every run has an empty
// cache. The link has a round trip of 150 ms and 1.6 megabits a second. The floor is a line of text from the same
// service, in the same browser, between the runs.

const RUNS = sized(5, 1);
const CPU_SLOWDOWN = 4;
const BYTES_PER_S = (1.6 * 1_024 * 1_024) / 8;
const TARGET_MS = 1_000;
const DRAWN_MS = 750;
const OPEN_PAGE = "main[data-screen=choose], main[data-screen=ready]";
const NETWORKS = [
  { name: "no throttling", latencyMs: 0, bytesPerS: -1, slowdown: 1 },
  { name: "4 x slower, slow 4G", latencyMs: 150, bytesPerS: BYTES_PER_S, slowdown: CPU_SLOWDOWN },
] as const;

type Network = (typeof NETWORKS)[number];
type Paint = { largestMs: number; firstMs: number; bytes: number };

export async function benchLargestPaint(): Promise<void> {
  const folder = temporaryFolder();
  const dev = await startDevProcess([], { TRIBUTARY_HOME: folder.path, PORT: String(await findPort("127.0.0.1", 0)) });
  const browser = await openBrowser();
  try {
    const { baseUrl, accounts } = dev.ready;
    const api = createApiClient({ baseUrl, apiKey: accounts[0]?.apiKey ?? "" });
    console.log(`largest contentful paint of the checkout page, medians of ${RUNS} (target ${TARGET_MS} ms)`);
    console.log(`${"".padEnd(24)}     floor     first   largest   fastest      sent`);
    for (const network of NETWORKS) {
      const paints: Paint[] = [];
      const floors: Paint[] = [];
      for (let run = 0; run < RUNS; run += 1) {
        const { checkoutUrl, widgetToken } = await api.createPaymentIntent({ priceUnits: 25_000_000, oneTime: true });
        floors.push(await measurePaint(browser, `${baseUrl}/healthz`, { network, shown: "body" }));
        paints.push(await measurePaint(browser, `${checkoutUrl}#${widgetToken}`, { network, shown: OPEN_PAGE }));
      }
      const largest = paints.map(({ largestMs }) => largestMs).toSorted((a, b) => a - b);
      const [bytes = 0] = paints.map((paint) => paint.bytes).toSorted((a, b) => a - b);
      const floor = median(floors.map(({ largestMs }) => largestMs));
      const figures = [floor, median(paints.map(({ firstMs }) => firstMs)), median(largest), largest[0] ?? 0];
      const cells = figures.map((ms) => `${Math.round(ms)} ms`.padStart(10));
      console.log(`${network.name.padEnd(24)}${cells.join("")}${`${Math.round(bytes / 1_024)} KiB`.padStart(10)}`);
    }
  } finally {
    await browser.close();
    dev.child.kill("SIGTERM");
    await dev.ended;
    folder.remove();
  }
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[values.length >> 1] ?? 0;
}

/** Measures until `shown`, a selector, is visible. */
async function measurePaint(
  browser: Browser,
  url: string,
  { network, shown }: { network: Network; shown: string },
): Promise<Paint> {
  const context = await browser.newContext({ viewport: { width: 390, height: 780 }, isMobile: true, hasTouch: true });
  const page = await context.newPage();
  const session = await context.newCDPSession(page);
  let bytes = 0;
  session.on("Network.loadingFinished", ({ encodedDataLength }) => (bytes += encodedDataLength));
  await session.send("Network.enable");
  await session.send("Network.emulateNetworkConditions", {
    offline: false,
    latency: network.latencyMs,
    downloadThroughput: network.bytesPerS,
    uploadThroughput: network.bytesPerS,
  });
  await session.send("Emulation.setCPUThrottlingRate", { rate: network.slowdown });
  await page.addInitScript(`
    window.largestPaintMs = 0;
    new PerformanceObserver((list) => {
      for (const entry of list.getEntries()) window.largestPaintMs = entry.startTime;
    }).observe({ type: "largest-contentful-paint", buffered: true });
  `);
  await page.goto(url);
  // A question to the page takes its processor, so none is asked before it has drawn.
  await page.waitForTimeout(DRAWN_MS * network.slowdown);
  await page.locator(shown).first().waitFor();
  // The observer reports a paint after the frame that follows it.
  await page.evaluate(
    "new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(done, 300))))",
  );
  const largestMs = await page.evaluate<number>("window.largestPaintMs");
  const firstMs = await page.evaluate<number>(
    "performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? 0",
  );
  await context.close();
  return { largestMs, firstMs, bytes };
}
