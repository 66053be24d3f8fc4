import type { CheckoutPage, RenderedPage } from "./checkoutState.ts";
import { MESSAGES } from "./messages/load.ts";
import { isLocale, LANGUAGES, textDirection, type Locale } from "./messages/locales.ts";
import type { Messages } from "./messages/messages.ts";
import { emptySituation, type Situation } from "./situation.ts";
import { createTranslator } from "./translator.ts";
import { h, toHtml, type VElement } from "./vnode.ts";
import { renderPage } from "./views/page.ts";

/** Files of the build that the document holds inline: each saves a round trip before the first paint. */
export type PageAssets = { readonly css: string; readonly bootScript: string; readonly scriptName: string };

/** What the document hands to the page's script. */
export type PageData = {
  readonly situation: Situation;
  readonly locale: Locale;
  readonly messages: Messages;
};

export const LOCALES: readonly string[] = Object.keys(LANGUAGES);

/**
 * Renders the whole document. Unknown locales become English. Times are in UTC until the script knows the reader's time
 * zone.
 */
export function renderDocument(page: CheckoutPage, assets: PageAssets, now: string): RenderedPage {
  const locale = isLocale(page.locale) ? page.locale : "en";
  const messages = MESSAGES[locale];
  const situation = situationOf(page);
  const t = createTranslator(locale, messages);
  const rendered = renderPage(situation, { t, now, times: { locale, timeZone: "UTC" } });
  const data: PageData = { situation, locale, messages };
  const styles = [assets.css, page.brandCss].filter((style) => style !== "");
  const head = h(
    "head",
    {},
    h("meta", { charset: "utf-8" }),
    h("meta", { name: "viewport", content: "width=device-width,initial-scale=1,viewport-fit=cover" }),
    h("meta", { name: "robots", content: "noindex" }),
    h("title", {}, rendered.title),
    h("script", {}, assets.bootScript),
    h("link", { rel: "icon", href: page.logo ?? "data:," }),
    styles.map((style) => h("style", {}, style)),
    h("script", { src: `/c/${page.intentId}/${assets.scriptName}`, type: "module", async: true }),
  );
  const attributes = {
    lang: locale,
    dir: textDirection(locale),
    "data-theme": page.theme,
    "data-mode": page.mode === "page" ? undefined : page.mode,
  };
  const slow = h(
    "div",
    { id: "slow", role: "alert", hidden: true },
    h("p.note.warn", {}, h("span", {}, t.text("open.slow"))),
    h("p.btns", {}, h("button.btn", { type: "button" }, t.text("offline.now"))),
  );
  // Before the page itself, so that it is there although the rest comes late.
  const body = h("body.page", {}, slow, h("div", { id: "root" }, rendered.body), dataBlock(data));
  return {
    html: `<!doctype html>${toHtml(h("html", attributes, head, body))}`,
    inlineStyles: styles,
    inlineScripts: [assets.bootScript],
  };
}

function situationOf(page: CheckoutPage): Situation {
  const query = new URLSearchParams();
  if (page.theme !== null) query.set("theme", page.theme);
  if (page.mode !== "page") query.set("mode", page.mode);
  return {
    ...emptySituation(page.intentId),
    phase: page.refusal !== null ? "refused" : page.state !== null ? "open" : "opening",
    refusal: page.refusal,
    state: page.state,
    origins: page.origins,
    logo: page.logo,
    mode: page.mode,
    languageQuery: query.toString(),
  };
}

function dataBlock(data: PageData): VElement {
  const json = JSON.stringify(data).replaceAll("<", String.raw`\u003c`);
  return h("script", { type: "application/json", id: "data" }, json);
}
