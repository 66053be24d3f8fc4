import { readFileSync } from "node:fs";
import type { CheckoutPage, PageFile, RenderedPage } from "../checkoutState.ts";

const read = (file: string) => readFileSync(new URL(`./${file}`, import.meta.url), "utf8");
const HTML = read("checkout.html");

/** The languages that the page has messages in. */
export const LOCALES: readonly string[] = ["en"];

export const PAGE_FILES: readonly PageFile[] = [
  { name: "checkout.css", contentType: "text/css; charset=utf-8", content: read("checkout.css") },
  { name: "checkout.js", contentType: "text/javascript; charset=utf-8", content: read("checkout.js") },
  { name: "icon.svg", contentType: "image/svg+xml", content: read("icon.svg") },
];

/** Renders the page as a whole document. A pure function. */
export function renderPage(page: CheckoutPage): RenderedPage {
  return { html: HTML.replaceAll("{intentId}", page.intentId), inlineStyles: [], inlineScripts: [] };
}
