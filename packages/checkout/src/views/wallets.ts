import { typedDecimal } from "../format.ts";
import { phoneWalletsFor } from "../phoneWallets.ts";
import type { TextKey } from "../messages/messages.ts";
import { canDeny, isOpen, isSlow, type PayerRequest, type WalletNote } from "../payerSide.ts";
import type { ShownWallet } from "../situation.ts";
import { h, type Child, type VElement } from "../vnode.ts";
import { icon } from "./icons.ts";
import { targetNetwork, targetSymbol, type PaymentContext } from "./viewContext.ts";

export function openInApp(context: PaymentContext, uri: string): VElement | false {
  return walletsHere(context).length === 0 && h("a.link", { href: uri }, context.t.text("pay.openApp"));
}

/** Those that pay on the networks of the shown address. */
function walletsHere({ situation, target }: PaymentContext): ShownWallet[] {
  return situation.wallets.filter(({ namespace }) => namespace === target?.inbox.namespace);
}

/**
 * In a frame on another site, wallets of the Wallet Standard do not show themselves, and the parent page relays none:
 * the button opens the page in a tab of its own, where they do. Undefined where wallets are listed, or no such wallet
 * pays.
 */
export function openInTab(context: PaymentContext): VElement | undefined {
  const { t, situation, target } = context;
  const isHidden =
    situation.mode === "page" || situation.check.outcome !== "ok" || target?.inbox.namespace !== "solana";
  if (isHidden || walletsHere(context).length > 0) return undefined;
  return h("button.btn", { type: "button", "data-do": "tab" }, icon("out", "flip"), t.text("pay.inBrowser"));
}

/** Wallets that announced themselves in this browser. The first gets the filled button; the others are folded. */
export function browserWallets(context: PaymentContext): Child {
  const { t } = context;
  const [first, ...others] = walletsHere(context);
  if (first === undefined) return null;
  return [
    walletButton(context, first, "btn main"),
    others.length > 0 &&
      h(
        "details.others",
        {},
        h("summary", {}, icon("turn", "turn flip"), t.plural("pay.others", others.length)),
        h(
          "div.wallets",
          {},
          others.map((wallet) => walletButton(context, wallet, "btn")),
        ),
      ),
  ];
}

function walletButton({ t, state, target, situation }: PaymentContext, wallet: ShownWallet, classes: string): VElement {
  const { amountText } = situation;
  const isTyping =
    state.remaining === null && typedDecimal(amountText, target?.origin?.decimals ?? state.decimals) === null;
  return h(
    "button",
    {
      class: classes,
      type: "button",
      "data-do": "wallet",
      "data-value": wallet.id,
      "aria-disabled": isTyping || isOpen(situation.payer) ? "true" : undefined,
    },
    walletGlyph(wallet),
    h("span", {}, classes === "btn" ? h("bdi", {}, wallet.name) : t.rich("pay.with", { wallet: wallet.name })),
  );
}

function walletGlyph({ name, icon: source }: ShownWallet): VElement {
  if (source !== null) return h("img.wglyph", { src: source, alt: "", width: 32, height: 32 });
  return h("span.wglyph", { "aria-hidden": "true" }, name.slice(0, 1).toUpperCase());
}

/**
 * On a phone: wallets of this browser, else apps that open the page in their own browser. Without a URI the amount is
 * still to be typed.
 */
export function phoneWallets(context: PaymentContext, uri?: string): VElement {
  const { t } = context;
  const apps = phoneWalletsFor(context.target?.inbox.namespace ?? "eip155").map(({ name }) =>
    h(
      "button.btn",
      { type: "button", "data-do": "app", "data-value": name },
      h("span.wglyph", { "aria-hidden": "true" }, name.slice(0, 1)),
      h("bdi", {}, name),
    ),
  );
  return h(
    uri === undefined ? "div.btns" : "div.by-wallet.btns",
    {},
    uri !== undefined && h("p.dim", {}, t.text("pay.doPhone")),
    walletsHere(context).length === 0
      ? [h("div.wallets", {}, apps), openInTab(context)]
      : context.state.remaining !== null && browserWallets(context),
    uri !== undefined && h("a.link", { href: uri }, t.text("pay.openApp")),
  );
}

/**
 * What is known of the payer's own transfer. Every sentence is true in the state of the request that it is shown in.
 */
export function walletNote(context: PaymentContext): Child {
  const { t, situation, now } = context;
  const { request, note } = situation.payer;
  if (!situation.isLive) return null;
  // Always there, so that readers hear what changes in it.
  if (request === null && note === null) return h("div", { role: "status", id: "wallet-say" });
  const wallet = request?.wallet ?? note?.wallet ?? "";
  const network = request?.networkName ?? targetNetwork(context);
  const key = request === null ? NOTES[note?.note ?? "unready"] : requestSentence(request, Date.parse(now));
  const isWarning = request === null || !CALM.includes(key);
  return h(
    "div",
    { role: "status", id: "wallet-say" },
    h(
      "p",
      { class: isWarning ? "note warn" : "note", id: "wallet-note" },
      isWarning ? icon("ask") : h("span.dot"),
      h("span", {}, t.rich(key, { wallet, network, symbol: targetSymbol(context) })),
    ),
    canDeny(situation.payer, Date.parse(now)) &&
      h("button.btn", { type: "button", "data-do": "deny", id: "deny" }, t.text("pay.walletDeny")),
  );
}

const NOTES = {
  refused: "pay.walletNo",
  poor: "pay.walletPoor",
  network: "pay.walletNetwork",
  unready: "pay.walletUnready",
  busy: "pay.walletWaits",
  reverted: "pay.walletReverted",
} as const satisfies Record<WalletNote["note"], TextKey>;

const CALM: readonly TextKey[] = ["pay.walletAsk", "pay.walletSent", "pay.walletMined"];

function requestSentence(request: PayerRequest, now: number): TextKey {
  switch (request.step) {
    case "preparing":
    case "asking":
      return "pay.walletAsk";
    case "waits":
      return "pay.walletWaits";
    case "sent":
      return isSlow(request, now) ? "pay.walletSlow" : "pay.walletSent";
    case "mined":
      return "pay.walletMined";
    case "unknown":
      return "pay.walletUnknown";
    case "lost":
      return "pay.walletLost";
    case "elsewhere":
      return "pay.walletElsewhere";
  }
}
