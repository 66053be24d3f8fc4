import { benchLargestPaint } from "./checkout/largestPaint.ts";
import { benchOpenPages } from "./checkout/openPages.ts";

/** Measures how soon a payer sees the page, what open pages cost the service, and how soon they show a payment. */
export async function benchCheckout(): Promise<void> {
  await benchLargestPaint();
  await benchOpenPages();
}
