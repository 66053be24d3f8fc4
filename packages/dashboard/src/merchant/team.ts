import { h, type Attributes, type Child, type VElement } from "@tributary/checkout/vnode";
import { idText, inside, moment, panel } from "../parts/parts.ts";
import { wideTable } from "../parts/table.ts";
import { actionForm, type Manager } from "./forms.ts";
import type { MerchantContext, MerchantPage } from "./frame.ts";

export type MemberView = {
  readonly memberId: string;
  readonly wallet: string;
  readonly role: string;
  readonly name: string | null;
  readonly createdAt: string;
};

export type TeamPageData = {
  readonly members: readonly MemberView[];
  readonly roles: readonly string[];
  readonly manager: Manager | null;
  readonly problem?: string | undefined;
};

export function teamPage(context: MerchantContext, { members, roles, manager, problem }: TeamPageData): MerchantPage {
  const { t, times } = context;
  const columns = [
    { label: t.text("team.member") },
    { label: t.text("team.role") },
    { label: t.text("team.wallet") },
    { label: t.text("team.since"), isNumber: true },
    ...(manager === null ? [] : [{ label: t.text("team.change") }]),
  ];
  const roleChoice = (selected: string, id: string) =>
    h(
      "select",
      { name: "role", id, "aria-label": t.text("team.role") },
      roles.map((role) => h("option", { value: role, selected: role === selected }, role)),
    );
  const rows = members.map(({ memberId, wallet, role, name, createdAt }) => ({
    id: memberId,
    cells: [
      name === null ? idText(memberId, true) : h("bdi", {}, name),
      role,
      idText(wallet, true),
      moment(createdAt, times),
      ...(manager === null
        ? []
        : [
            [
              actionForm(
                { manager, action: "/dashboard/team/role" },
                h("input", { type: "hidden", name: "memberId", value: memberId }),
                roleChoice(role, `role-${memberId}`),
                h("button.btn.plain", { type: "submit" }, t.text("hooks.save")),
              ),
              actionForm(
                { manager, action: "/dashboard/team/remove" },
                h("input", { type: "hidden", name: "memberId", value: memberId }),
                h("button.btn.risk", { type: "submit" }, t.text("team.remove")),
              ),
            ],
          ]),
    ] satisfies Child[],
  }));
  const content = [
    problem !== undefined && h("p.note.bad-note", { role: "alert" }, problem),
    panel(
      { id: "team", title: t.text("nav.team") },
      rows.length === 0 ? inside(h("p.dim", {}, t.text("team.none"))) : wideTable(t.text("nav.team"), columns, rows),
    ),
    manager === null
      ? h("p.small.dim", {}, t.text("team.byOwner"))
      : addPanel(context, manager, roleChoice("reader", "new-role")),
  ];
  return { title: t.text("nav.team"), section: "team", content };
}

function addPanel({ t }: MerchantContext, manager: Manager, roleChoice: VElement): VElement {
  const field = (name: "wallet" | "name", more: Attributes) =>
    h(
      "p.field",
      {},
      h("label", { for: name }, t.text(`team.${name}`)),
      h("input", { id: name, name, maxlength: 100, ...more }),
    );
  return panel(
    { id: "add-member", title: t.text("team.add") },
    inside(
      actionForm(
        { manager, action: "/dashboard/team" },
        field("wallet", { class: "id", required: true }),
        field("name", {}),
        h("p.field", {}, h("label", { for: "new-role" }, t.text("team.role")), roleChoice),
        h("button.btn", { type: "submit" }, t.text("team.add")),
      ),
    ),
  );
}
