import { linkTarget, formatPaymentNumber } from "../format.ts";
import { LANGUAGES, type Locale } from "../messages/locales.ts";
import { h, type Child, type VElement } from "../vnode.ts";
import { icon, type IconName } from "./icons.ts";
import type { ViewContext } from "./viewContext.ts";

/** What happened, and what to do: one heading and one sentence. */
export function instruction(
  title: Child,
  sentences: readonly Child[] = [],
  sign?: { readonly name: IconName; readonly tone: "good" | "warn" | "" },
): VElement {
  return h(
    "div.instruction",
    {},
    sign !== undefined && h("span", { class: `sign ${sign.tone}`.trim() }, icon(sign.name)),
    h("h1", { id: "now", tabindex: "-1" }, title),
    sentences.map((sentence) => h("p", {}, sentence)),
  );
}

export function bold(text: string): VElement {
  return h("b", {}, h("bdi", {}, text));
}

/**
 * An address in groups of four, with its ends marked. The text holds no spaces, so that a selection copies it whole.
 */
export function addressCode(address: string): VElement {
  const isEvm = address.startsWith("0x");
  const body = isEvm ? address.slice(2) : address;
  const groups = body.match(/.{1,4}/g) ?? [];
  const cells = groups.map((group, index) => [
    index > 0 && h("wbr"),
    h("i", { class: index === 0 || index === groups.length - 1 ? "k" : undefined }, group),
  ]);
  const attributes = { class: isEvm ? "addr" : "addr b58", translate: "no", id: "address" };
  return h("code", attributes, isEvm && h("i.p", {}, "0x"), cells);
}

export function explorerLink({ t }: ViewContext, url: string | null): VElement | null {
  const href = linkTarget(url);
  if (href === undefined) return null;
  const attributes = { href, "data-url": href, target: "_blank", rel: "noopener noreferrer" };
  return h("a.link", attributes, t.text("common.explorer"), icon("out"));
}

export function backLink({ t, situation, screen }: ViewContext): VElement | null {
  const href = linkTarget(situation.state?.returnUrl ?? null);
  if (href === undefined) return null;
  // In a frame the shop's page is the one around it.
  const attributes = { href, rel: "noreferrer", target: situation.mode === "page" ? undefined : "_top" };
  const name = situation.state?.merchant.name ?? "";
  // While a payment is under way nothing asks for a press.
  const classes = screen === "seen" ? "btn" : "btn main";
  return h(
    "a",
    { ...attributes, class: classes },
    icon("back", "flip"),
    h("span", {}, t.rich("common.back", { merchant: name })),
  );
}

/** The foot of the page: who is paid, the payment's number, help, and the language. */
export function foot(context: ViewContext): VElement {
  const { t, situation, screen } = context;
  const { state } = situation;
  const isMessage = ["opening", "stale", "used", "ended", "unknown", "down", "refused"].includes(screen);
  // Where the address was changed, the link may be too.
  const support = screen === "refused" ? undefined : linkTarget(state?.merchant.support ?? null, ["https:", "mailto:"]);
  const name = state?.merchant.name ?? "";
  return h(
    "footer.foot",
    {},
    state !== null && !isMessage && h("span", {}, t.rich("foot.direct", { merchant: name })),
    state !== null &&
      screen !== "paid" &&
      screen !== "overpaid" &&
      h("span", {}, t.rich("foot.number", { id: paymentNumber(state.paymentNumber) })),
    support !== undefined &&
      h(
        "a.link",
        { href: support, target: "_blank", rel: "noopener noreferrer" },
        h("span", {}, t.rich("foot.help", { merchant: name })),
      ),
    languageMenu(context),
  );
}

export function paymentNumber(text: string): VElement {
  return h("bdi", { dir: "ltr", translate: "no" }, formatPaymentNumber(text));
}

function languageMenu({ t, situation }: ViewContext): VElement | null {
  if (situation.languageQuery === null) return null;
  const query = situation.languageQuery === "" ? "" : `&${situation.languageQuery}`;
  const links = Object.entries(LANGUAGES).map(([locale, name]) =>
    h(
      "li",
      {},
      h(
        "a.link",
        {
          href: `/c/${situation.intentId}?locale=${locale}${query}`,
          lang: locale,
          "aria-current": locale === t.locale ? "true" : undefined,
        },
        name,
      ),
    ),
  );
  return h(
    "details.langs",
    {},
    h(
      "summary.link",
      {},
      icon("globe"),
      LANGUAGES[t.locale satisfies Locale],
      h("span.vh", {}, ` – ${t.text("foot.language")}`),
    ),
    h("ul", {}, links),
  );
}
