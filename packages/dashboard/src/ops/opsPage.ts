import { h, type Child, type VElement } from "@tributary/checkout/vnode";
import { icon, logo } from "../parts/icons.ts";
import { alarmsView } from "./alarms.ts";
import { chainsView } from "./chains.ts";
import { commandsView, databaseView, endpointsView, processesView } from "./machines.ts";
import { booksView, crossingsView, heldView, transactionsView } from "./money.ts";
import type { Following, OpsContext } from "./opsContext.ts";
import { decideVerdict, type OpsState } from "./opsState.ts";
import { roadView } from "./road.ts";
import { verdictTitle, verdictView } from "./verdict.ts";

export type RenderedOps = { readonly title: string; readonly body: readonly VElement[] };

/** The operator's page. Server and browser draw it from the same state. */
export function renderOps(context: OpsContext, state: OpsState, following: Following): RenderedOps {
  const { t } = context;
  const { host } = state.installation;
  const verdict = verdictTitle(context, decideVerdict(state, following.ageMs));
  const parts: Child[] = [verdictView(context, state, following), alarmsView(context, state)];
  // Before the first reading there is nothing to show beside the alarms.
  if (state.readAt !== null)
    parts.push(
      roadView(context, state),
      chainsView(context, state),
      h("div.duo", { id: "out-and-cross" }, transactionsView(context, state), crossingsView(context, state)),
      heldView(context, state),
      h(
        "div.duo",
        { id: "books-and-machines" },
        h("div.stack", {}, booksView(context, state), endpointsView(context, state)),
        h("div.stack", {}, processesView(context, state), databaseView(context, state)),
      ),
    );
  parts.push(commandsView(context));
  return {
    title: t.text("title.page", { verdict, host }),
    body: frame(context, { installation: state.installation }, parts),
  };
}

/** The bar above, the foot below, and a page between them. */
export function frame(
  context: OpsContext,
  { installation, query = "" }: Pick<OpsState, "installation"> & { readonly query?: string },
  content: readonly Child[],
): VElement[] {
  const { t } = context;
  const { host, environment, version, nodeVersion } = installation;
  return [
    h("a.skip", { href: "#main" }, t.text("skip")),
    h(
      "main.ops",
      { id: "main", tabindex: "-1" },
      h(
        "header.opsbar",
        {},
        h(
          "a.shop",
          { href: "/ops" },
          logo(),
          h(
            "span",
            {},
            h("b", {}, h("bdi", { translate: "no" }, host)),
            h("br"),
            h("span.small.dim", {}, t.text("bar.kind", { environment })),
          ),
        ),
        searchForm(context, query),
        h("p.small.dim.zone", {}, t.text("bar.zone", { zone: zoneName(context) })),
      ),
      content,
      h(
        "footer.endnote",
        {},
        h("span", {}, t.text("foot.version", { version, node: nodeVersion })),
        h("span.js.keys", {}, t.text("foot.keys")),
      ),
    ),
  ];
}

function searchForm({ t }: OpsContext, query: string): VElement {
  const field = {
    id: "q",
    name: "q",
    type: "search",
    placeholder: t.text("bar.placeholder"),
    autocomplete: "off",
    autocapitalize: "off",
    spellcheck: "false",
    maxlength: 200,
    value: query === "" ? undefined : query,
    "aria-keyshortcuts": "/",
  };
  return h(
    "form.find",
    { role: "search", method: "get", action: "/ops/search" },
    icon("search"),
    h("label.vh", { for: "q" }, t.text("bar.search")),
    h("input", field),
    h("kbd", { "aria-hidden": "true" }, "/"),
  );
}

function zoneName({ times, t }: OpsContext): string {
  if (times.timeZone === "UTC") return "UTC";
  const parts = new Intl.DateTimeFormat(t.locale, { timeZone: times.timeZone, timeZoneName: "short" }).formatToParts();
  return parts.find(({ type }) => type === "timeZoneName")?.value ?? "UTC";
}
