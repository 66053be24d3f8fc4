import { h, type Child, type VElement } from "@tributary/checkout/vnode";
import { formatAge, groupDigits } from "../format.ts";
import { icon } from "../parts/icons.ts";
import { amount, chainName, idText, panel } from "../parts/parts.ts";
import { wideTable } from "../parts/table.ts";
import type { OpsContext } from "./opsContext.ts";
import type { OpsChain, OpsGas, OpsProvider, OpsState } from "./opsState.ts";

/** Days from which on the bar of a gas account is full. */
const DAYS_FULL = 90;
/** The same in settlements, where the days are not known. */
const SETTLEMENTS_FULL = 1_000n;

export function chainsView(context: OpsContext, { chains }: OpsState): VElement {
  const { t } = context;
  const columns = [
    { label: t.text("chains.chain") },
    { label: t.text("chains.block") },
    { label: t.text("chains.providers") },
    { label: t.text("chains.finality") },
    { label: t.text("chains.gas") },
    { label: t.text("chains.price") },
  ];
  const rows = chains.map((chain) => ({
    id: `chain-${chain.chain.replaceAll(":", "-")}`,
    cells: [
      [chainName(chain.name), h("br"), h("span.small.dim", {}, idText(chain.chain, true))],
      blockCell(context, chain),
      providersCell(context, chain),
      h(
        "span.small",
        {},
        chain.finality.map((rule, index) => ruleText(context, rule, index)),
      ),
      chain.gas === null ? t.text("chains.unknown") : gasCell(context, chain.gas),
      chain.gas === null ? t.text("chains.unknown") : h("bdi", {}, chain.gas.price),
    ],
  }));
  return panel({ id: "chains", title: t.text("chains.heading") }, wideTable(t.text("chains.heading"), columns, rows));
}

function blockCell({ t }: OpsContext, chain: OpsChain): Child[] {
  const { recordedBlock, behindBlocks, scannedMs, isScanned } = chain;
  const behind = behindBlocks === null ? [] : [t.plural("chains.behind", Number(behindBlocks))];
  const scanned = scannedMs === null ? [] : [t.text("chains.scanned", { age: formatAge(scannedMs) })];
  return [
    recordedBlock === null ? t.text("chains.unknown") : groupDigits(recordedBlock),
    h("br"),
    h("span.small.dim", {}, [...behind, ...scanned].join(", ")),
    !isScanned && [h("br"), h("span.small.bad", {}, t.text("chains.notScanned"))],
  ];
}

function providersCell(context: OpsContext, { providers }: OpsChain): Child {
  if (providers === null) return h("span.small.dim", {}, context.t.text("chains.notAsked"));
  return h(
    "span.provs",
    {},
    providers.map((provider) => providerView(context, provider)),
  );
}

function providerView({ t }: OpsContext, { name, state, lagBlocks }: OpsProvider): VElement {
  const words =
    state === "ok"
      ? h("span.vh", {}, ` ${t.text("chains.providerOk")}`)
      : ` ${state === "silent" ? t.text("chains.providerSilent") : t.text("chains.providerBehind", { n: lagBlocks ?? "" })}`;
  return h(
    "span",
    { class: state === "ok" ? "prov" : "prov warn" },
    state === "ok" ? h("span.good", {}, icon("tick", "s")) : icon("warn", "s"),
    h("bdi", { translate: "no" }, name),
    words,
  );
}

function ruleText({ t }: OpsContext, { rule, upTo }: OpsChain["finality"][number], index: number): Child {
  const text =
    upTo === null
      ? index === 0
        ? rule
        : t.text("chains.ruleAbove", { rule })
      : t.text("chains.ruleUpTo", { rule, sum: groupDigits(upTo) });
  return index === 0 ? text : `, ${text}`;
}

function gasCell({ t }: OpsContext, gas: OpsGas): Child[] {
  const { balance, settlementsLeft, daysLeft, isLow, isEmpty } = gas;
  const days = daysLeft === null ? [] : [t.plural("chains.days", daysLeft)];
  const settlements =
    settlementsLeft === null
      ? t.text("chains.free")
      : t.plural("chains.settlements", Number(settlementsLeft), { n: groupDigits(settlementsLeft) });
  const share = daysLeft === null ? shareOfSettlements(settlementsLeft) : Math.min(100, (daysLeft * 100) / DAYS_FULL);
  const level = isEmpty ? "run none" : isLow ? "run low" : "run";
  return [
    amount(balance.decimal, balance.symbol),
    (isLow || isEmpty) && [
      " ",
      h("span", { class: isEmpty ? "bad" : "warn" }, t.text(isEmpty ? "chains.empty" : "chains.low")),
    ],
    h("br"),
    h("span.small.dim", {}, [...days, settlements].join(", ")),
    h(
      "svg",
      { class: "bar", viewBox: "0 0 100 6", preserveAspectRatio: "none", "aria-hidden": "true" },
      h("rect.bed", { width: 100, height: 6 }),
      h("rect", { class: level, width: Math.round(share), height: 6 }),
    ),
    h("span.small.dim", {}, idText(gas.account, true)),
  ];
}

function shareOfSettlements(left: string | null): number {
  if (left === null) return 100;
  const share = (BigInt(left) * 100n) / SETTLEMENTS_FULL;
  return share > 100n ? 100 : Number(share);
}
