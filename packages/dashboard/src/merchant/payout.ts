import { h, type Child, type VElement } from "@tributary/checkout/vnode";
import { facts, inside, moment, panel } from "../parts/parts.ts";
import { wideTable } from "../parts/table.ts";
import { actionForm, type Manager } from "./forms.ts";
import type { MerchantContext, MerchantPage } from "./frame.ts";
import { stateTag } from "./payments.ts";
import { walletPlace } from "./walletPlace.ts";

export type PayoutChangeView = {
  readonly changeId: string;
  readonly status: "proposed" | "waiting" | "applied" | "stopped";
  readonly change: readonly (readonly [name: string, value: string])[];
  readonly proposedBy: string;
  readonly proposedAt: string;
  readonly dueAt: string | null;
  readonly endedBy: string | null;
  /** What the present payout wallet signs. */
  readonly text: string;
};

export type PayoutPageData = {
  readonly present: { readonly wallet: string; readonly chain: string; readonly token: string } | null;
  readonly changes: readonly PayoutChangeView[];
  /** The coins that can be paid out. */
  readonly choices: readonly { readonly value: string; readonly label: string }[];
  readonly delayHours: number;
  /** An owner, who proposes. */
  readonly owner: Manager | null;
  /** Any member, who may stop a change and carry its signature. */
  readonly member: Manager | null;
  readonly problem?: string | undefined;
};

export function payoutPage(context: MerchantContext, data: PayoutPageData): MerchantPage {
  const { t } = context;
  const { present, changes, problem, owner, delayHours } = data;
  const open = changes.find(({ status }) => status === "proposed" || status === "waiting");
  const content = [
    problem !== undefined && h("p.note.bad-note", { role: "alert" }, problem),
    panel(
      { id: "present", title: t.text("payout.present") },
      inside(
        present === null
          ? h("p.dim", {}, t.text("payout.none"))
          : facts([
              [t.text("payout.wallet"), h("span.id.whole", { translate: "no" }, present.wallet)],
              [t.text("payout.coin"), t.text("payout.on", { token: present.token, chain: present.chain })],
            ]),
        h("p.small.dim", {}, t.text("payout.pinned")),
      ),
    ),
    open !== undefined && openPanel(context, open, data),
    open === undefined && owner !== null && proposePanel(context, data, owner),
    owner === null && h("p.small.dim", {}, t.text("payout.byOwner", { hours: delayHours })),
    historyPanel(
      context,
      changes.filter((each) => each !== open),
    ),
  ];
  // Followed, a page would lose the wallets that its script offers.
  return { title: t.text("nav.payout"), section: "payout", content, isFollowed: false };
}

function changeFacts(change: PayoutChangeView["change"]): VElement {
  return facts(change.map(([name, value]) => [name, h("span.id.whole", { translate: "no" }, value)] as const));
}

/** The steps of an open change: who does the next one, and until when it can be stopped. */
function openPanel(
  context: MerchantContext,
  open: PayoutChangeView,
  { present, member, delayHours }: PayoutPageData,
): VElement {
  const { t, times } = context;
  const step = (state: "past" | "now" | "later", title: Child, what: Child) =>
    h("li", { class: state === "later" ? undefined : state }, h("div", {}, h("h3", {}, title), h("p", {}, what)));
  const isSigned = open.status === "waiting";
  return panel(
    { id: "open", title: t.text("payout.open"), side: stateTag(open.status) },
    inside(
      changeFacts(open.change),
      h(
        "ol.acts-steps",
        {},
        step(
          "past",
          t.text("payout.proposed"),
          t.rich("payout.by", { who: open.proposedBy, time: moment(open.proposedAt, times) }),
        ),
        step(isSigned ? "past" : "now", t.text("payout.signed"), t.text("payout.signed.what")),
        step(
          isSigned ? "now" : "later",
          t.text("payout.wait"),
          open.dueAt === null
            ? t.text("payout.wait.what", { hours: delayHours })
            : t.rich("payout.due", { time: moment(open.dueAt, times) }),
        ),
      ),
      !isSigned &&
        member !== null &&
        present !== null && [
          h("pre.code.wrap", { id: "text-to-sign", tabindex: "0" }, open.text),
          walletPlace(context, {
            action: "/dashboard/payout/sign",
            token: member.token,
            wallet: present.wallet,
            fields: { changeId: open.changeId },
          }),
        ],
      member !== null &&
        actionForm(
          { manager: member, action: "/dashboard/payout/stop" },
          h("input", { type: "hidden", name: "changeId", value: open.changeId }),
          h("button.btn.risk", { type: "submit" }, t.text("payout.stop")),
        ),
    ),
  );
}

function proposePanel({ t }: MerchantContext, { choices, delayHours }: PayoutPageData, manager: Manager): VElement {
  return panel(
    { id: "propose", title: t.text("payout.propose") },
    inside(
      h("p", {}, t.text("payout.propose.what", { hours: delayHours })),
      actionForm(
        { manager, action: "/dashboard/payout" },
        h(
          "p.field",
          {},
          h("label", { for: "coin" }, t.text("payout.coin")),
          h(
            "select",
            { id: "coin", name: "coin" },
            choices.map(({ value, label }) => h("option", { value }, label)),
          ),
        ),
        h(
          "p.field",
          {},
          h("label", { for: "wallet" }, t.text("payout.newWallet")),
          h("input", {
            id: "wallet",
            name: "wallet",
            class: "id",
            required: true,
            maxlength: 100,
            spellcheck: "false",
          }),
        ),
        h("button.btn", { type: "submit" }, t.text("payout.propose")),
      ),
    ),
  );
}

function historyPanel({ t, times }: MerchantContext, changes: readonly PayoutChangeView[]): Child {
  if (changes.length === 0) return false;
  const columns = [
    { label: t.text("payout.change") },
    { label: t.text("keys.state") },
    { label: t.text("payout.proposedBy") },
    { label: t.text("payout.endedBy") },
    { label: t.text("payout.at"), isNumber: true },
  ];
  const rows = changes.map(({ changeId, change, status, proposedBy, proposedAt, endedBy }) => ({
    id: changeId,
    cells: [
      change.map(([name, value]) => [`${name} `, h("span.id.whole", { translate: "no" }, value), h("br")]),
      stateTag(status),
      proposedBy,
      endedBy ?? "–",
      moment(proposedAt, times),
    ],
  }));
  return panel({ id: "earlier", title: t.text("payout.earlier") }, wideTable(t.text("payout.earlier"), columns, rows));
}
