import { h, type Child, type VElement } from "@tributary/checkout/vnode";
import { facts, inside, panel } from "../parts/parts.ts";
import { actionForm, type Manager } from "./forms.ts";
import type { MerchantContext, MerchantPage } from "./frame.ts";

/** How the checkout looks, as it was typed. Empty: the default. */
export type Looks = {
  readonly accent: string;
  readonly accentDark: string;
  readonly radius: string;
  readonly font: string;
  readonly support: string;
};

export const LOOKS = ["accent", "accentDark", "radius", "font", "support"] as const;

export type CheckoutPageData = {
  readonly looks: Looks;
  readonly hasLogo: boolean;
  /** Pages that may embed the checkout, one a line. */
  readonly origins: string;
  readonly manager: Manager | null;
  readonly isSaved: boolean;
  readonly problem?: string | undefined;
};

export function checkoutPage(context: MerchantContext, data: CheckoutPageData): MerchantPage {
  const { t } = context;
  const { looks, hasLogo, origins, manager, isSaved, problem } = data;
  const field = (name: (typeof LOOKS)[number]) =>
    h(
      "p.field",
      {},
      h("label", { for: name }, t.text(`looks.${name}`)),
      h("input", { id: name, name, maxlength: 200, value: looks[name], "aria-describedby": `${name}-help` }),
      h("span.small", { id: `${name}-help` }, t.text(`looks.${name}.help`)),
    );
  const shown: [string, Child][] = LOOKS.map((name) => [
    t.text(`looks.${name}`),
    looks[name] === "" ? t.text("looks.default") : h("span.id.whole", { translate: "no" }, looks[name]),
  ]);
  const content = [
    isSaved && h("p.note.good-note", { role: "status" }, t.text("done.saved")),
    problem !== undefined && h("p.note.bad-note", { role: "alert" }, problem),
    panel(
      { id: "looks", title: t.text("looks.title") },
      inside(
        manager === null
          ? facts(shown)
          : actionForm(
              { manager, action: "/dashboard/checkout" },
              LOOKS.map(field),
              h("button.btn", { type: "submit" }, t.text("hooks.save")),
            ),
        h("p.small.dim", {}, t.text(hasLogo ? "looks.logo" : "looks.noLogo")),
      ),
    ),
    previewPanel(context, looks),
    panel(
      { id: "origins", title: t.text("origins.title") },
      inside(
        h("p.small.dim", {}, t.text("origins.what")),
        manager === null
          ? h("pre.code.wrap", { tabindex: "0" }, origins === "" ? t.text("origins.none") : origins)
          : actionForm(
              { manager, action: "/dashboard/checkout/origins" },
              h(
                "p.field",
                {},
                h("label", { for: "list" }, t.text("origins.list")),
                h("textarea", { id: "list", name: "origins", class: "id", rows: 5, spellcheck: "false" }, origins),
              ),
              h("button.btn", { type: "submit" }, t.text("hooks.save")),
            ),
      ),
    ),
  ];
  // Followed, a page would draw the preview of what is saved over the one of what is typed.
  return { title: t.text("nav.checkout"), section: "checkout", content, isFollowed: manager === null };
}

/** The script draws it anew while somebody types. Without a script it shows what is saved. */
function previewPanel({ t }: MerchantContext, looks: Looks): VElement {
  const query = new URLSearchParams(Object.entries(looks).filter(([, value]) => value !== "")).toString();
  return panel(
    { id: "preview-title", title: t.text("looks.preview") },
    inside(
      h("iframe.preview", {
        id: "preview",
        src: `/dashboard/checkout/preview${query === "" ? "" : `?${query}`}`,
        title: t.text("looks.preview"),
      }),
      h("p.small.dim", {}, t.text("looks.preview.what")),
    ),
  );
}
