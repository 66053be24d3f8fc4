import { readFileSync } from "node:fs";
import type { CheckoutPage, PageFile, RenderedPage } from "@tributary/checkout/checkoutState";
import { renderDocument } from "@tributary/checkout/renderDocument";

// The page itself is the package @tributary/checkout. Its script and style sheet are built and checked in.

export const SCRIPT_NAME = "checkout.js";
/** What wallets show beside a payment request of a merchant without a logo. */
export const PAY_ICON_NAME = "pay.svg";
const PAY_ICON = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 64 64"><rect width="64" height="64" rx="14" fill="#0f5470"/><path d="M18 34l10 10 19-23" fill="none" stroke="#fff" stroke-width="7" stroke-linecap="round" stroke-linejoin="round"/></svg>`;

const readAsset = (name: string) =>
  readFileSync(new URL(import.meta.resolve(`@tributary/checkout/${name}`)), "utf8").trimEnd();

const ASSETS = { css: readAsset("page.css"), bootScript: readAsset("boot.js"), scriptName: SCRIPT_NAME };

export const PAGE_FILES: readonly PageFile[] = [
  { name: SCRIPT_NAME, contentType: "text/javascript; charset=utf-8", content: readAsset("page.js") },
  { name: "solana.js", contentType: "text/javascript; charset=utf-8", content: readAsset("solana.js") },
  { name: "marks.svg", contentType: "image/svg+xml", content: readAsset("marks.svg") },
  { name: PAY_ICON_NAME, contentType: "image/svg+xml", content: PAY_ICON },
];

/** Renders the page as a whole document, with times as of `now`. */
export function renderPage(page: CheckoutPage, now: Date): RenderedPage {
  return renderDocument(page, ASSETS, now.toISOString());
}
