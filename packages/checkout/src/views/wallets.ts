import { typedDecimal } from "../format.ts";
import { phoneWalletsFor } from "../phoneWallets.ts";
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
 * In a frame on another site, wallets of the Wallet Standard do not show themselves, and the parent page relays none: the button opens the
 * page in a tab of its own, where they do. Undefined where wallets are listed, or no such wallet pays.
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
  const { t, state, target } = context;
  const [first, ...others] = walletsHere(context);
  // On Solana the payer types the amount where there is no price.
  if (first === undefined || (state.remaining === null && target?.inbox.namespace !== "solana")) return null;
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
  const step = situation.walletStep?.step;
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
      "aria-disabled": isTyping || step === "asking" || step === "sent" ? "true" : undefined,
    },
    walletGlyph(wallet),
    h("span", {}, classes === "btn" ? h("bdi", {}, wallet.name) : t.rich("pay.with", { wallet: wallet.name })),
  );
}

function walletGlyph({ name, icon: source }: ShownWallet): VElement {
  if (source !== null) return h("img.wglyph", { src: source, alt: "", width: 32, height: 32 });
  return h("span.wglyph", { "aria-hidden": "true" }, name.slice(0, 1).toUpperCase());
}

/** On a phone: wallets of this browser, else apps that open the page in their own browser. Without a URI the amount is still to be typed. */
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
    walletsHere(context).length > 0 ? browserWallets(context) : [h("div.wallets", {}, apps), openInTab(context)],
    uri !== undefined && h("a.link", { href: uri }, t.text("pay.openApp")),
  );
}

export function walletNote(context: PaymentContext): VElement | null {
  const { t, situation } = context;
  const { walletStep } = situation;
  if (walletStep === null) return null;
  const { wallet, step } = walletStep;
  const sentence = {
    asking: () => t.rich("pay.walletAsk", { wallet }),
    sent: () => t.rich("pay.walletSent", { wallet }),
    refused: () => t.rich("pay.walletNo", { wallet }),
    network: () => t.rich("pay.walletNetwork", { wallet, network: targetNetwork(context) }),
    poor: () => t.rich("pay.walletPoor", { wallet, symbol: targetSymbol(context), network: targetNetwork(context) }),
  }[step]();
  const isWarning = step !== "asking" && step !== "sent";
  return h(
    "p",
    { class: isWarning ? "note warn" : "note", id: "wallet-note" },
    isWarning ? icon("ask") : h("span.dot"),
    h("span", {}, sentence),
  );
}
