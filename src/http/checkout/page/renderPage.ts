import { readFileSync } from "node:fs";
import type { CheckoutPage, PageFile, RenderedPage } from "@tributary/checkout/checkoutState";
import { renderDocument } from "@tributary/checkout/renderDocument";

// The page itself is the package @tributary/checkout. Its script and style sheet are built and checked in.

const SCRIPT_NAME = "checkout.js";

const readAsset = (name: string) =>
  readFileSync(new URL(import.meta.resolve(`@tributary/checkout/${name}`)), "utf8").trimEnd();

const ASSETS = { css: readAsset("page.css"), bootScript: readAsset("boot.js"), scriptName: SCRIPT_NAME };

export const PAGE_FILES: readonly PageFile[] = [
  { name: SCRIPT_NAME, contentType: "text/javascript; charset=utf-8", content: readAsset("page.js") },
];

/** Renders the page as a whole document, with times as of `now`. */
export function renderPage(page: CheckoutPage, now: Date): RenderedPage {
  return renderDocument(page, ASSETS, now.toISOString());
}
