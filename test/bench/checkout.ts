import { loadavg } from "node:os";
import { benchLargestPaint } from "./checkout/largestPaint.ts";
import { benchOpenPages } from "./checkout/openPages.ts";

/** Measures how soon a payer sees the page, what open pages cost the service, and how soon they show a payment. */
export async function benchCheckout(): Promise<void> {
  const startedMs = performance.now();
  await benchLargestPaint();
  await benchOpenPages();
  console.log(`${Math.round((performance.now() - startedMs) / 1_000)} s, load ${loadavg()[0]?.toFixed(1)}`);
}
