import { isLocale } from "@tributary/checkout/locales";
import { h, type Child, type VElement } from "@tributary/checkout/vnode";
import { renderDocument } from "../document.ts";
import { icon, logo } from "../parts/icons.ts";
import { facts, idText, moment, type Times } from "../parts/parts.ts";
import { createTranslator } from "../translator.ts";
import { MERCHANT_MESSAGES } from "../languages/load.ts";
import { merchantMessages, type MerchantTranslator } from "./messages.ts";

// What stands around each page of the dashboard, and the pages with one thing on them.

const FILES = "/dashboard";
const SCRIPT = "dashboard.js";

const MESSAGES = MERCHANT_MESSAGES;
export const MERCHANT_LOCALES: readonly string[] = Object.keys(MESSAGES);

export type MerchantContext = { readonly t: MerchantTranslator; readonly times: Times };

/** Times are in UTC, because the server does not know the reader's zone. */
export function merchantContext(locale: string, now: string): MerchantContext {
  const known = isLocale(locale) && MESSAGES[locale] !== undefined ? locale : "en";
  const t = createTranslator(known, MESSAGES[known] ?? merchantMessages);
  return { t, times: { locale: known, timeZone: "UTC", now } };
}

export type Section =
  | "payments"
  | "settlements"
  | "webhooks"
  | "events"
  | "checkout"
  | "keys"
  | "team"
  | "payout"
  | "audit";

/** Who is signed in. `token` goes with every form that changes something. */
export type Viewer = {
  readonly accountName: string;
  /** The id of a key, or the wallet of a member with his role. */
  readonly signedInBy: { readonly key: string } | { readonly wallet: string; readonly role: string };
  readonly expiresAt: string;
  readonly environment: "test" | "live";
  readonly token: string;
};

export type MerchantPage = {
  readonly title: string;
  readonly section: Section | null;
  readonly query?: string;
  readonly content: readonly Child[];
  /** False where an open page stays as it is: the answer to a form stands nowhere else. Default true. */
  readonly isFollowed?: boolean;
};

const PATHS: Readonly<Record<Section, string>> = {
  payments: "/dashboard",
  settlements: "/dashboard/settlements",
  webhooks: "/dashboard/webhooks",
  events: "/dashboard/events",
  checkout: "/dashboard/checkout",
  keys: "/dashboard/keys",
  team: "/dashboard/team",
  payout: "/dashboard/payout",
  audit: "/dashboard/audit",
};

/** A whole page as elements. A script that keeps an open page up to date gets it in this form. */
export type DrawnPage = { readonly title: string; readonly body: readonly Child[] };

export function drawMerchantPage(context: MerchantContext, viewer: Viewer, page: MerchantPage): DrawnPage {
  const { t } = context;
  const body = [
    h("a.skip", { href: "#main" }, t.text("skip")),
    viewer.environment === "test" && h("aside.ribbon", {}, t.text("ribbon")),
    h(
      "div.app",
      {},
      sideBar(context, viewer, page.section),
      h(
        "main.main",
        { id: "main", tabindex: "-1" },
        h("div.top", {}, h("h1", {}, page.title), searchForm(context, page.query ?? "")),
        // Stays empty while the page is up to date. The script writes here.
        page.isFollowed !== false && h("p.err", { id: "follow", role: "status", "data-lost": t.text("follow.lost") }),
        page.content,
        keysPanel(context),
      ),
    ),
  ];
  return { title: t.text("title.page", { page: page.title, account: viewer.accountName }), body };
}

export function toDocument({ t }: MerchantContext, { title, body }: DrawnPage): string {
  return renderDocument({ locale: t.locale, title, filesPath: FILES, script: SCRIPT, body });
}

function sideBar(context: MerchantContext, viewer: Viewer, section: Section | null): VElement {
  const { t } = context;
  const links = (Object.keys(PATHS) as Section[]).map((name) =>
    h(
      "li",
      {},
      h("a", { href: PATHS[name], "aria-current": name === section ? "page" : undefined }, t.text(`nav.${name}`)),
    ),
  );
  return h(
    "header.side",
    {},
    h("a.shop", { href: "/dashboard" }, logo(), h("b", {}, h("bdi", {}, viewer.accountName))),
    h(
      "div.nav.plain-nav",
      {},
      h("nav", { "aria-label": t.text("nav.label") }, h("ul", {}, links)),
      h(
        "div.who",
        {},
        h("p", {}, signedInLine(context, viewer)),
        "wallet" in viewer.signedInBy &&
          h("p", {}, h("a.btn.plain", { href: "/dashboard/accounts" }, t.text("who.accounts"))),
        h("button.btn.plain.js", { type: "button", popovertarget: "keys" }, t.text("keys.title")),
        h(
          "form",
          { method: "post", action: "/dashboard/sign-out" },
          h("input", { type: "hidden", name: "token", value: viewer.token }),
          h("button.btn.plain", { type: "submit" }, t.text("who.signOut")),
        ),
      ),
    ),
  );
}

/** What the keys do. It opens by "?" or by its button. */
function keysPanel({ t }: MerchantContext): VElement {
  const keys = (names: string) => names.split(" ").map((name) => [h("kbd", {}, name), " "]);
  const rows: [names: string, what: string][] = [
    ["j k", t.text("keys.rows")],
    ["Enter", t.text("keys.open")],
    ["/", t.text("keys.search")],
    ["g p", t.text("nav.payments")],
    ["g s", t.text("nav.settlements")],
    ["g w", t.text("nav.webhooks")],
    ["g e", t.text("nav.events")],
    ["e", t.text("keys.export")],
    ["?", t.text("keys.title")],
    ["Esc", t.text("keys.close")],
  ];
  return h(
    "section.panel.keys-panel",
    { id: "keys", popover: true, "aria-labelledby": "keys-title" },
    h("header", {}, h("h2", { id: "keys-title" }, t.text("keys.title"))),
    h(
      "div.in",
      {},
      facts(rows.map(([names, what]) => [keys(names), what] as const)),
      h(
        "p",
        {},
        h(
          "label.check",
          {},
          h("input", { id: "keys-on", type: "checkbox", checked: true }),
          " ",
          t.text("keys.switch"),
        ),
      ),
    ),
  );
}

function signedInLine({ t, times }: MerchantContext, { signedInBy, expiresAt }: Viewer): Child[] {
  const time = moment(expiresAt, times);
  if ("key" in signedInBy) return t.rich("who.key", { key: idText(signedInBy.key), time });
  return t.rich("who.member", { wallet: idText(signedInBy.wallet, true), role: signedInBy.role, time });
}

function searchForm({ t }: MerchantContext, query: string): VElement {
  return h(
    "form.find",
    { role: "search", method: "get", action: "/dashboard/search" },
    icon("search"),
    h("label.vh", { for: "q" }, t.text("find.label")),
    h("input", {
      id: "q",
      name: "q",
      type: "search",
      placeholder: t.text("find.placeholder"),
      autocomplete: "off",
      spellcheck: "false",
      maxlength: 200,
      value: query === "" ? undefined : query,
      "aria-keyshortcuts": "/",
    }),
    h("kbd", { "aria-hidden": "true" }, "/"),
  );
}

export type PageProblem = "notFound" | "limited" | "limitedDay" | "away" | "foreign" | "scope";

/** A page that says why there is none. */
export function renderProblem(context: MerchantContext, host: string, problem: PageProblem): string {
  const { t } = context;
  const content = h("p", {}, h("a", { href: "/dashboard" }, t.text("pay.back")));
  return lonePage(context, {
    host,
    heading: t.text(`problem.${problem}`),
    what: t.text(`problem.${problem}.what`),
    content,
  });
}

export function lonePage(
  { t }: MerchantContext,
  { host, heading, what, content }: { host: string; heading: string; what: string; content: Child },
): string {
  const body = [
    h(
      "main.lone",
      { id: "main" },
      h("span.shop", {}, logo(), h("b", {}, h("bdi", { translate: "no" }, host))),
      h(
        "section.slip",
        {},
        h("div.up", {}, h("h1", {}, heading)),
        h("div.tear"),
        h("div.down", {}, h("p", {}, what), content),
      ),
    ),
  ];
  const title = t.text("title.page", { page: heading, account: host });
  return renderDocument({ locale: t.locale, title, filesPath: FILES, script: SCRIPT, body });
}
