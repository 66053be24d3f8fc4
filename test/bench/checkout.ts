import { benchOpenPages } from "./checkout/openPages.ts";

/** Measures what open checkout pages cost the service, and how soon they show a payment. */
export async function benchCheckout(): Promise<void> {
  await benchOpenPages();
}
