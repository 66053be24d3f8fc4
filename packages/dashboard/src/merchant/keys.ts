import { h, type Child } from "@tributary/checkout/vnode";
import { command, idText, inside, moment, panel } from "../parts/parts.ts";
import { wideTable } from "../parts/table.ts";
import { actionForm, type Manager } from "./forms.ts";
import type { MerchantContext, MerchantPage } from "./frame.ts";
import { stateTag } from "./payments.ts";

export type KeyView = {
  readonly keyId: string;
  readonly scopes: readonly string[];
  readonly state: "active" | "expired" | "revoked";
  readonly createdAt: string;
  readonly lastUsedAt: string | null;
};

export type KeysPageData = {
  readonly keys: readonly KeyView[];
  /** Those that a new key may have. */
  readonly scopes: readonly string[];
  readonly manager: Manager | null;
  readonly problem?: string | undefined;
};

export function keysPage(context: MerchantContext, { keys, scopes, manager, problem }: KeysPageData): MerchantPage {
  const { t, times } = context;
  const columns = [
    { label: t.text("keys.key") },
    { label: t.text("keys.scopes") },
    { label: t.text("keys.state") },
    { label: t.text("keys.used"), isNumber: true },
    { label: t.text("list.created"), isNumber: true },
    ...(manager === null ? [] : [{ label: t.text("keys.revoke") }]),
  ];
  const rows = keys.map(({ keyId, scopes: own, state, createdAt, lastUsedAt }) => ({
    id: `key-${keyId}`,
    cells: [
      idText(keyId),
      own.join(", "),
      stateTag(state),
      lastUsedAt === null ? "–" : moment(lastUsedAt, times),
      moment(createdAt, times),
      ...(manager === null
        ? []
        : [
            state === "active"
              ? actionForm(
                  { manager, action: "/dashboard/keys/revoke" },
                  h("input", { type: "hidden", name: "keyId", value: keyId }),
                  h(
                    "button.btn.risk",
                    { type: "submit", "aria-label": t.text("keys.revokeOf", { key: keyId }) },
                    t.text("keys.revoke"),
                  ),
                )
              : "–",
          ]),
    ] satisfies Child[],
  }));
  const content = [
    problem !== undefined && h("p.note.bad-note", { role: "alert" }, problem),
    panel({ id: "keys", title: t.text("nav.keys") }, wideTable(t.text("nav.keys"), columns, rows)),
    manager === null
      ? h("p.small.dim", {}, t.text("keys.byMember"))
      : panel(
          { id: "new-key", title: t.text("keys.add") },
          inside(
            actionForm(
              { manager, action: "/dashboard/keys" },
              h(
                "fieldset.field",
                {},
                h("legend.label", {}, t.text("keys.scopes")),
                scopes.map((scope) =>
                  h(
                    "label.check",
                    {},
                    h("input", { type: "checkbox", name: "scope", value: scope }),
                    h("code", { translate: "no" }, scope),
                  ),
                ),
              ),
              h("button.btn", { type: "submit" }, t.text("keys.add")),
            ),
          ),
        ),
  ];
  return { title: t.text("nav.keys"), section: "keys", content };
}

/** The only page that shows a key. */
export function newKeyPage({ t }: MerchantContext, apiKey: string): MerchantPage {
  const content = [
    h("p.crumb", {}, h("a", { href: "/dashboard/keys" }, t.text("nav.keys"))),
    panel(
      { id: "key", title: t.text("keys.new") },
      inside(h("p", {}, t.text("keys.new.what")), command(apiKey, t.text("keys.copy"))),
    ),
  ];
  return { title: t.text("keys.new"), section: "keys", content };
}
