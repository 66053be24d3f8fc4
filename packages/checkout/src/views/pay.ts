import { decimalUnits, plainDecimal, scaleUnits, typedDecimal } from "../format.ts";
import { buildPaymentRequestUri, buildPaymentUri } from "../paymentUri.ts";
import type { PayTarget } from "../situation.ts";
import { h, type Child, type VElement } from "../vnode.ts";
import { icon } from "./icons.ts";
import { addressCode, bold, instruction } from "./parts.ts";
import { qrCode } from "./qrCode.ts";
import { arrivedPercent, targetMoney } from "./orderSummary.ts";
import { banner, live, refresh } from "./status.ts";
import { transferList } from "./transfers.ts";
import { browserWallets, openInApp, openInTab, phoneWallets, walletNote } from "./wallets.ts";
import { money, targetDecimal, targetNetwork, targetSymbol, type PaymentContext } from "./viewContext.ts";

/** What fits beside the button that copies it, on a phone. */
const ROW_CHARACTERS = 14;

/** What a wallet is asked to send; null while the payer has not decided the amount. */
export function unitsToSend({
  state,
  target,
  amountText = "",
}: {
  state: PaymentContext["state"];
  target: PayTarget;
  amountText?: string;
}): bigint | null {
  const decimals = target.origin?.decimals ?? state.decimals;
  if (state.remainingUnits === null) {
    const typed = typedDecimal(amountText, decimals);
    return typed === null ? null : decimalUnits(typed, decimals);
  }
  return scaleUnits(state.remainingUnits, state.decimals, decimals);
}

/** The task while money is still to come: nothing has arrived, or a part has. */
export function renderPay(context: PaymentContext): Child[] {
  const { t, state, screen, situation } = context;
  return [
    banner(context),
    screen === "underpaid" ? underpaidHeading(context) : readyHeading(context),
    pausedNote(context),
    ways(context),
    screen === "underpaid" && exchangeNote(context),
    situation.isLive ? live(context, t.text("pay.waiting")) : refresh(context),
    state.deposits.length > 0 && transferList(context),
  ];
}

function readyHeading(context: PaymentContext): VElement {
  const { t, state, situation } = context;
  const network = targetNetwork(context);
  const title =
    state.remaining === null
      ? t.rich("pay.titleOpen", { symbol: targetSymbol(context), network })
      : t.rich("pay.title", { amount: targetMoney(context, state.remaining), network });
  const sentences: Child[] = [];
  if (state.remaining === null) sentences.push(t.text("pay.doOpen"));
  if (!situation.isLive) sentences.push(t.text("nojs.do"));
  if (state.deposits[0]?.status === "dropped") sentences.push(t.text("seen.undone"));
  return instruction(title, sentences);
}

function underpaidHeading(context: PaymentContext): Child {
  const { t, state } = context;
  const left = targetMoney(context, state.remaining ?? "0");
  const arrived = bold(money(context, state.arrived));
  const price = money(context, state.price ?? "0");
  return [
    instruction(t.rich("under.title", { left }), [t.rich("under.do", { arrived, price })]),
    h("div.part", { "data-at": arrivedPercent(context), "aria-hidden": "true" }, h("i")),
  ];
}

/** A transfer on a network that cannot be watched now is found later: better to pick another, or to wait. */
function pausedNote({ t, target }: PaymentContext): VElement | false {
  const isPaused = target?.origin?.isIssuable === false && target.origin.reason === "paused";
  return isPaused && h("p.note.warn", {}, icon("clock"), h("span", {}, t.text("choose.paused")));
}

/** Two equal ways, as radios so that they work without script. Payments without a URI have only the address. */
function ways(context: PaymentContext): Child {
  const { t, situation, target } = context;
  if (target === undefined) return null;
  const uri = paymentUri(context, target);
  const isAddressFirst = uri === undefined || !situation.isLive;
  const isFolded = situation.isPhone && situation.isLive;
  const codes = (!isFolded || situation.isCodeShown) && [
    uri !== undefined && walletCode(context, uri),
    addressCodeView(context, target, uri === undefined),
  ];
  return h(
    "div.pay",
    { role: "group", "aria-label": t.text("pay.ways") },
    uri !== undefined && [
      h("input.vh", { type: "radio", name: "way", id: "way-wallet", checked: !isAddressFirst }),
      h("input.vh", { type: "radio", name: "way", id: "way-address", checked: isAddressFirst }),
      h(
        "div.seg",
        {},
        h("label", { for: "way-wallet" }, t.text("pay.wayWallet")),
        h("label", { for: "way-address" }, t.text("pay.wayAddress")),
      ),
      isFolded && phoneWallets(context, uri),
    ],
    typedPayment(context, target),
    walletNote(context),
    !isFolded && codes,
    rows(context, target),
    addressNote(context, target, uri === undefined),
    isFolded &&
      h(
        "details.code",
        { "data-fold": "code" },
        h("summary", {}, icon("turn", "turn flip"), t.text("pay.showCode")),
        codes,
      ),
  );
}

/**
 * Without a price, a wallet needs the amount first. A code would change with each digit. An app of a phone opens the
 * page in its own browser, where it is a wallet of that browser.
 */
function typedPayment(context: PaymentContext, target: PayTarget): Child {
  const { t, state, situation } = context;
  if (state.remaining !== null || !situation.isLive) return null;
  const buttons = browserWallets(context);
  if (buttons === null && target.inbox.namespace !== "solana") return null;
  if (buttons === null) return situation.isPhone ? phoneWallets(context) : openInTab(context);
  const typed = typedDecimal(situation.amountText, target.origin?.decimals ?? state.decimals);
  const attributes = { id: "typed-amount", inputmode: "decimal", autocomplete: "off", maxlength: 20 };
  return h(
    "div.typed",
    {},
    h("label", { for: "typed-amount" }, t.text("row.amount")),
    h(
      "span.field",
      {},
      h("input", { ...attributes, value: situation.amountText }),
      // As the page writes amounts, so that nobody mistakes a thousands separator.
      h("bdi", {}, typed === null ? targetSymbol(context) : targetMoney(context, typed)),
    ),
    h("div.btns", {}, buttons),
  );
}

function paymentUri({ state }: PaymentContext, target: PayTarget): string | undefined {
  const { inbox, origin } = target;
  const units = unitsToSend({ state, target });
  // A wallet on Solana asks for the whole transaction, which needs an amount.
  if (inbox.paymentRequestUrl !== null && units !== null) return buildPaymentRequestUri(inbox.paymentRequestUrl);
  if (inbox.namespace !== "eip155" || origin === null) return undefined;
  return buildPaymentUri({ tokenAddress: origin.tokenAddress, chainId: origin.chainId, address: inbox.address, units });
}

function walletCode(context: PaymentContext, uri: string): VElement {
  const { t, state, situation, screen } = context;
  const amount = state.remaining === null ? targetSymbol(context) : targetMoney(context, state.remaining);
  const label = t.text("pay.codeAlt", { amount, network: targetNetwork(context) });
  const isNew = screen === "underpaid";
  return h(
    "div.scan.by-wallet",
    {},
    h("figure", { class: isNew ? "qr new" : "qr" }, qrCode(uri, label)),
    h(
      "div.says",
      {},
      isNew && h("span.flag", {}, t.rich("under.flag", { left: amount })),
      h("b", {}, t.text("pay.codeWallet")),
      h("span.dim", {}, t.text(state.remaining === null ? "pay.codeOpenDo" : "pay.codeWalletDo")),
      !situation.isPhone && [
        state.remaining !== null && (browserWallets(context) ?? openInTab(context)),
        openInApp(context, uri),
      ],
    ),
  );
}

function addressCodeView(context: PaymentContext, target: PayTarget, isOnly: boolean): VElement {
  const { t } = context;
  const isDerived = target.inbox.namespace === "solana";
  const sentence = isDerived ? "pay.codeAddressDoWallet" : "pay.codeAddressDo";
  return h(
    "div",
    { class: isOnly ? "scan" : "scan by-address" },
    h("figure.qr", {}, qrCode(target.inbox.address, t.text("pay.codeAltAddress"))),
    h(
      "div.says",
      {},
      h("b", {}, t.text("pay.codeAddress")),
      h("span.dim", {}, t.rich(sentence, { network: targetNetwork(context) })),
    ),
  );
}

/** Amount, network and address: the same rows in every way to pay. */
function rows(context: PaymentContext, target: PayTarget): VElement {
  const { t, state, situation } = context;
  const symbol = targetSymbol(context);
  const network = targetNetwork(context);
  const money = state.remaining === null ? "" : targetMoney(context, state.remaining);
  return h(
    "dl.rows",
    {},
    state.remaining !== null &&
      h(
        // A long amount has a line of its own: a number that breaks is read as two.
        money.length > ROW_CHARACTERS ? "div.tall" : "div",
        {},
        h("dt", {}, t.text("row.amount")),
        h("dd.big", {}, h("bdi", { id: "amount" }, money)),
        copyButton(context, "amount", plainDecimal(targetDecimal(context, state.remaining))),
      ),
    h(
      "div",
      {},
      h("dt", {}, t.text("row.network")),
      h("dd.big", {}, h("bdi", {}, network)),
      h("dd.only.small.dim", {}, t.rich("pay.only", { symbol, network })),
    ),
    h(
      "div.tall",
      {},
      h(
        "dt",
        {},
        h("span", {}, t.text("row.address")),
        situation.check.outcome === "ok" && h("span.ok", {}, icon("shield"), t.text("pay.checked")),
      ),
      h("dd", {}, addressCode(target.inbox.address)),
      copyButton(context, "address", target.inbox.address),
    ),
  );
}

/**
 * What is known about an address without a private key, and the minimum, unless the whole rest is smaller and counts
 * all the same.
 */
function addressNote(context: PaymentContext, { inbox, origin }: PayTarget, isOnly: boolean): VElement | false {
  const { t, state } = context;
  const minimum = origin?.minimum ?? state.minimum;
  const isMinimumShown = Number(state.remaining ?? Infinity) > Number(minimum);
  return (
    inbox.namespace === "solana" &&
    h(
      "p",
      { class: isOnly ? "small dim" : "small dim by-address", id: "derived" },
      t.text("pay.derived"),
      isMinimumShown && [" ", t.rich("pay.minimum", { minimum: targetMoney(context, minimum) })],
    )
  );
}

function copyButton({ t, situation }: PaymentContext, what: "amount" | "address", content: string): VElement | null {
  if (!situation.isLive) return null;
  const isDone = situation.copied?.what === what;
  const name = t.text(what === "amount" ? "row.amount" : "row.address");
  const attributes = { type: "button", "data-do": "copy", "data-value": what, "data-content": content };
  return h(
    "dd.do",
    {},
    h(
      "button",
      {
        ...attributes,
        class: isDone ? "copy is-done" : "copy",
        "aria-label": isDone ? t.text("common.copied") : t.text("common.copyWhat", { what: name }),
      },
      icon(isDone ? "tick" : "copy"),
      h("span", {}, t.text(isDone && !situation.copied?.isSelectedOnly ? "common.copied" : "common.copy")),
    ),
    isDone && situation.copied?.isSelectedOnly === true && h("span.hint.small", {}, t.text("common.selected")),
  );
}

function exchangeNote(context: PaymentContext): VElement {
  const { t, state } = context;
  const left = targetMoney(context, state.remaining ?? "0");
  return h(
    "details.note",
    {},
    h("summary", {}, icon("turn", "turn flip"), t.text("under.exchange")),
    h("p", {}, t.rich("under.exchangeWhy", { left, merchant: state.merchant.name })),
  );
}
