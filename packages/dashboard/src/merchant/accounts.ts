import { h, type Child } from "@tributary/checkout/vnode";
import { idText, inside, panel } from "../parts/parts.ts";
import { wideTable } from "../parts/table.ts";
import { actionForm } from "./forms.ts";
import type { MerchantContext, MerchantPage } from "./frame.ts";

export type OwnAccount = { readonly accountId: string; readonly accountName: string; readonly role: string };

/** The accounts that the wallet of this session may open. `openId`: the one that is open. */
export function accountsPage(
  { t }: MerchantContext,
  { accounts, openId, token }: { accounts: readonly OwnAccount[]; openId: string; token: string },
): MerchantPage {
  const columns = [
    { label: t.text("accounts.account") },
    { label: t.text("team.role") },
    { label: t.text("accounts.open") },
  ];
  const rows = accounts.map(({ accountId, accountName, role }) => ({
    id: accountId,
    cells: [
      [h("bdi", {}, accountName), h("br"), h("span.small.dim", {}, idText(accountId))],
      role,
      accountId === openId
        ? t.text("accounts.isOpen")
        : actionForm(
            { manager: { token }, action: "/dashboard/accounts" },
            h("input", { type: "hidden", name: "accountId", value: accountId }),
            h(
              "button.btn",
              { type: "submit", "aria-label": t.text("accounts.openOf", { name: accountName }) },
              t.text("accounts.open"),
            ),
          ),
    ] satisfies Child[],
  }));
  const title = t.text("accounts.title");
  const content = panel(
    { id: "accounts", title },
    rows.length === 0 ? inside(h("p.dim", {}, t.text("accounts.none"))) : wideTable(title, columns, rows),
  );
  return { title, section: null, content: [content] };
}
