import type { CheckoutState, RefusalReason } from "../src/checkoutState.ts";
import { phoneWalletsFor } from "../src/phoneWallets.ts";
import type { PageData } from "../src/renderDocument.ts";
import { findPayTarget, hasChoice, type AddressCheck, type ShownWallet, type Situation } from "../src/situation.ts";
import { formatMoney, unitsToDecimal } from "../src/format.ts";
import { createTranslator } from "../src/translator.ts";
import { unitsToSend } from "../src/views/pay.ts";
import { renderPage, type Rendered } from "../src/views/page.ts";
import { announce } from "./announcements.ts";
import { shownWallet, watchWallets, type BrowserWallet } from "./browserWallets.ts";
import { keepChoice, readChoice } from "./keptChoice.ts";
import { StateFollower } from "./followState.ts";
import { loadMarks } from "./loadMarks.ts";
import { patchChildren } from "./patchDom.ts";
import { ParentPage } from "./parentPage.ts";
import { PayerControl } from "./payerControl.ts";
import { payWithWallet, transferCall, UNKNOWN_CHAIN } from "./payWithWallet.ts";
import { CheckoutApi, RequestError, type Opening } from "./session.ts";
import { SolanaWallets } from "./solanaWallets.ts";
import { verifyInboxes } from "./verifyInboxes.ts";

const COPIED_MS = 2_000;
const BACK_SHOWN_MS = 3_000;
const RETRY_MS = [1_000, 2_000, 4_000, 8_000];

// The script may run before the end of the document has come.
if (document.readyState === "loading") await new Promise((resolve) => addEventListener("DOMContentLoaded", resolve));
const data = JSON.parse(document.getElementById("data")?.textContent ?? "{}") as PageData;
const t = createTranslator(data.locale, data.messages);
const root = document.getElementById("root") ?? document.body;
const api = new CheckoutApi(data.situation.intentId);
const follower = new StateFollower(api, { onState: receiveState, onRefused: showRefusal, onLost: showLost });
const parent = ParentPage.find();

let wallets: readonly BrowserWallet[] = [];
const solana = new SolanaWallets(() => update({ wallets: listWallets(), check: checkInboxes() }));
let situation: Situation = {
  ...data.situation,
  isLive: true,
  isPhone: matchMedia("(pointer: coarse)").matches,
  chosenOriginId: readChoice(data.situation.intentId),
};
const payer = new PayerControl(situation.intentId, (side) => update({ payer: side }));
situation = { ...situation, payer: payer.side };
payer.follow(
  (name) => wallets.find((each) => each.name === name),
  (id) => situation.origins?.origins.find(({ originId }) => originId === id),
);
let reportedOriginId: string | null | undefined;

addEventListener("click", (event) => {
  const element = event.target instanceof Element ? event.target.closest("[data-do]") : null;
  if (element === null || element.getAttribute("aria-disabled") === "true") return;
  void act(element.getAttribute("data-do") ?? "", element);
});
addEventListener("input", (event) => {
  if (!(event.target instanceof HTMLInputElement)) return;
  const { id, value } = event.target;
  if (id === "q") update({ searchText: value });
  if (id === "typed-amount") update({ amountText: value });
});
// The event does not bubble.
addEventListener(
  "toggle",
  (event) => {
    const { target } = event;
    if (target instanceof HTMLDetailsElement && target.dataset["fold"] === "code") update({ isCodeShown: target.open });
  },
  true,
);

void start();

async function start(): Promise<void> {
  // The answer to a posted form: a reload would post the form again.
  if (location.pathname.endsWith("/session")) history.replaceState(null, "", `/c/${situation.intentId}`);
  watchWallets(parent, (found) => {
    wallets = found;
    update({ wallets: listWallets() });
  });
  if (parent !== undefined) startInFrame(parent);
  const { tributaryOpening } = window as { tributaryOpening?: Opening };
  if (tributaryOpening !== undefined) {
    if (!(await openSession(tributaryOpening))) return;
  } else if (situation.state !== null) receiveState(situation.state);
  else update({});
  if (situation.phase === "refused") return;
  // Without them letters stay.
  loadMarks(situation.intentId).then((marks) => update({ marks }), console.warn);
  await follower.run(situation.state);
}

/** Returns false when the credential is refused. Without an answer it goes on trying. */
async function openSession(opening: Opening): Promise<boolean> {
  for (let tries = 0; ; tries += 1) {
    try {
      const { state, origins } = await api.openSession(opening, tries > 0);
      update({ origins, languageQuery: api.isInMemory ? null : situation.languageQuery });
      if (state !== null) receiveState(state);
      if (hasChoice(situation) && situation.chosenOriginId === null) update({ isChoosing: true });
      return true;
    } catch (error) {
      const status = error instanceof RequestError ? error.status : 0;
      const isRefused = status >= 400 && status < 500 && status !== 429;
      if (error instanceof RequestError && isRefused) return receiveKnownState() || showRefused(opening, error);
      update({ phase: "down" });
      await new Promise((resolve) => setTimeout(resolve, RETRY_MS[Math.min(tries, RETRY_MS.length - 1)]));
    }
  }
}

function showRefused(opening: Opening, { refusal }: RequestError): false {
  update({ phase: "refused", refusal: opening.isHandoff && refusal === "unknown" ? "used" : refusal });
  return false;
}

/** An older link, in a browser that has a session: the service sent the payment with the document. */
function receiveKnownState(): boolean {
  if (data.situation.state !== null) receiveState(data.situation.state);
  return data.situation.state !== null;
}

function receiveState(state: CheckoutState): void {
  if (parent?.isApproved(state.inboxes) === false) {
    void parent.approve(state.terms, state.inboxes).then(() => receiveState(state));
    return;
  }
  const { connection } = situation;
  const isBack = connection.isLost;
  const isChanged = state.arrived !== situation.state?.arrived;
  clearTimeout(countdown);
  if (isChanged) payer.clear();
  payer.arrived(state);
  update({
    phase: "open",
    refusal: null,
    state,
    check: checkInboxes({ state }),
    connection: { isLost: false, retrySeconds: 0, isBack: isBack || connection.isBack },
    isPayingAgain: situation.isPayingAgain && !isChanged,
    amountText: isChanged ? "" : situation.amountText,
  });
  if (isBack) setTimeout(() => update({ connection: { ...situation.connection, isBack: false } }), BACK_SHOWN_MS);
  if (situation.origins === null) void loadOrigins();
}

/**
 * Of what the page has, or is about to have. Payments on Solana are unchecked until their part of the script has
 * loaded.
 */
function checkInboxes(changes: Partial<Situation> = {}): AddressCheck {
  const { state, origins, issuedInboxes, check } = { ...situation, ...changes };
  if (state === null) return check;
  const verified = verifyInboxes(state, origins, issuedInboxes);
  if (verified.outcome !== "ok") return verified;
  return solana.verify({ ...state, inboxes: [...state.inboxes, ...issuedInboxes] }, origins);
}

function listWallets(): ShownWallet[] {
  return [...wallets.map((wallet) => shownWallet("eip155", wallet)), ...solana.list()];
}

async function loadOrigins(): Promise<void> {
  try {
    const origins = await api.readOrigins();
    update({ origins, check: checkInboxes({ origins }) });
  } catch {
    // An archived payment has none; otherwise the next state asks again.
  }
}

/** Without a session from the start the link was incomplete, and no page was open too long. */
function showRefusal(refusal: RefusalReason): void {
  const isIncomplete = situation.state === null && refusal === "expired";
  update({ phase: "refused", refusal: isIncomplete ? "unknown" : refusal });
}

let countdown: ReturnType<typeof setTimeout> | undefined;

function showLost(retryMs: number): void {
  if (situation.state === null) return update({ phase: "down" });
  clearTimeout(countdown);
  const tick = (seconds: number) => {
    update({ connection: { isLost: true, retrySeconds: seconds, isBack: false } });
    if (seconds > 1) countdown = setTimeout(() => tick(seconds - 1), 1_000);
  };
  tick(Math.round(retryMs / 1_000));
}

let shown: Situation = data.situation;
let isDrawing = false;
let movesFocus = false;

/** Changes the situation and draws the page once for all changes of a moment. */
function update(changes: Partial<Situation>, isOwnPress = false): void {
  situation = { ...situation, ...changes };
  movesFocus ||= isOwnPress;
  if (isDrawing) return;
  isDrawing = true;
  queueMicrotask(draw);
}

/** Focus moves to the heading only where the payer's own press changed the page. */
function draw(): void {
  isDrawing = false;
  let rendered = render();
  const announcement = announce(shown, situation, { t, heading: rendered.heading });
  if (announcement !== situation.announcement) {
    situation = { ...situation, announcement };
    rendered = render();
  }
  shown = situation;
  patchChildren(root, rendered.body);
  if (situation.phase !== "opening") document.getElementById("slow")?.remove();
  document.title = rendered.title;
  if (movesFocus) document.getElementById("now")?.focus();
  movesFocus = false;
  reportView(rendered.screen);
  reportToParent();
}

function render(): Rendered {
  const times = { locale: data.locale, timeZone: undefined };
  return renderPage(situation, { t, now: new Date().toISOString(), times });
}

/** Tells the service which address is on the screen, once for each. */
function reportView(screen: string): void {
  if (screen !== "ready" && screen !== "underpaid") return;
  const originId = findPayTarget(situation)?.origin?.originId ?? null;
  if (reportedOriginId === originId) return;
  reportedOriginId = originId;
  void api.reportView(originId);
}

async function act(action: string, element: Element): Promise<void> {
  const value = element.getAttribute("data-value") ?? "";
  switch (action) {
    case "copy":
      return copy(element, value === "amount" ? "amount" : "address");
    case "change":
      update({ isChoosing: true, choice: null, searchText: "" }, true);
      return loadOrigins();
    case "choose":
      return choose(value);
    case "pay":
      return update({ isPayingAgain: true }, true);
    case "wallet":
      return pay(value);
    case "app":
      return openApp(value);
    case "deny":
      return payer.deny();
    case "tab":
      return openInTab();
    case "print":
      return print();
    case "retry":
      return situation.state === null ? location.reload() : follower.refresh();
  }
}

/**
 * Issues the inbox of the chosen origin if the payment has none there yet, and shows it only if its address can be
 * recomputed.
 */
async function choose(originId: string): Promise<void> {
  const { state } = situation;
  if (state === null) return;
  const inboxes = [...state.inboxes, ...situation.issuedInboxes];
  if (!inboxes.some(({ originIds }) => originIds.includes(originId))) {
    update({ choice: { originId, step: "issuing" } });
    try {
      const inbox = await api.issueInbox(originId);
      await parent?.approve(state.terms, [inbox]);
      // An address that serves several origins names those that it was issued for.
      const known = { ...inbox, originIds: [...new Set([...inbox.originIds, originId])] };
      const issuedInboxes = [...situation.issuedInboxes, known];
      update({ issuedInboxes, check: checkInboxes({ issuedInboxes }) });
    } catch {
      return update({ choice: { originId, step: "failed" } });
    }
  }
  keepChoice(state.intentId, originId);
  update({ chosenOriginId: originId, isChoosing: false, choice: null }, true);
}

let copiedTimer: ReturnType<typeof setTimeout> | undefined;

/** Copies; where the browser refuses the clipboard, selects the text for the payer's own copy. */
async function copy(element: Element, what: "amount" | "address"): Promise<void> {
  const content = element.getAttribute("data-content") ?? "";
  let isSelectedOnly = false;
  try {
    await navigator.clipboard.writeText(content);
  } catch {
    isSelectedOnly = true;
    const shown = document.getElementById(what);
    if (shown !== null) getSelection()?.selectAllChildren(shown);
  }
  clearTimeout(copiedTimer);
  update({ copied: { what, isSelectedOnly } });
  copiedTimer = setTimeout(() => update({ copied: null }), COPIED_MS);
}

async function pay(walletId: string): Promise<void> {
  const wallet = listWallets().find(({ id }) => id === walletId);
  const { state } = situation;
  const target = findPayTarget(situation);
  if (wallet === undefined || state === null || target === undefined || target.origin === null) return;
  const units = unitsToSend({ state, target, amountText: situation.amountText });
  if (units === null || units === 0n || situation.check.outcome !== "ok") return;
  const { origin, inbox } = target;
  const here = wallets.find(({ id }) => id === walletId);
  const transfer = { origin, to: inbox.address, units };
  const asked = {
    wallet: wallet.name,
    originId: origin.originId,
    networkName: inbox.networkName,
    amount: unitsToDecimal(units, origin.decimals),
    call: here === undefined ? null : transferCall(transfer),
    known: state.deposits.map(({ depositId }) => depositId),
  };
  const { reason } = await payer.pay(asked, (hand) =>
    here === undefined ? solana.pay(walletId, { state, transfer, hand }) : payWithWallet(here, transfer, hand),
  );
  if (reason === UNKNOWN_CHAIN) return openOnTop(wallet.name);
}

/** Opens this page in a wallet's own browser, which has none of this browser's cookies: by a code that works once. */
async function openApp(name: string): Promise<void> {
  const namespace = findPayTarget(situation)?.inbox.namespace ?? "eip155";
  const app = phoneWalletsFor(namespace).find((each) => each.name === name);
  if (app === undefined) return;
  try {
    const { url } = await api.createHandoff();
    const link = app.link(new URL(url, location.origin).href);
    if (window.parent === window) location.assign(link);
    else open(link, "_top");
  } catch {
    payer.clear({ wallet: name, note: "unready" });
  }
}

/** Opens this page instead of the merchant's, where it may add a network to the wallet. */
async function openOnTop(walletName: string): Promise<void> {
  try {
    open((await api.createHandoff()).url, "_top");
  } catch {
    payer.clear({ wallet: walletName, note: "unready" });
  }
}

/**
 * Opens this page beside the merchant's, where wallets show themselves that reach no frame. This one follows the
 * payment all the same.
 */
async function openInTab(): Promise<void> {
  // At once: a browser opens no tab after an answer of the service.
  const tab = open("about:blank", "_blank");
  try {
    const { url } = await api.createHandoff();
    if (tab === null) {
      open(url, "_top");
      return;
    }
    tab.opener = null;
    tab.location.replace(url);
  } catch {
    tab?.close();
    // Shows why: the service does not answer, or the session is over.
    follower.refresh();
  }
}

function startInFrame(page: ParentPage): void {
  page.start();
  const { mode, languageQuery } = situation;
  if (languageQuery !== null) situation = { ...situation, languageQuery: `${languageQuery}&${page.query}` };
  if (mode === "inline")
    new ResizeObserver(() =>
      page.reportHeight(Math.ceil(document.documentElement.getBoundingClientRect().height)),
    ).observe(document.documentElement);
  // The dialog's own key does not reach into the frame.
  if (mode === "modal")
    addEventListener("keydown", (event) => {
      const isSearching =
        event.target instanceof HTMLInputElement && event.target.id === "q" && event.target.value !== "";
      if (event.key === "Escape" && !event.defaultPrevented && !isSearching) page.close();
    });
}

/** Passes on what the payer sees, once it is checked. */
function reportToParent(): void {
  const { state, check } = situation;
  if (parent === undefined || state === null || check.outcome !== "ok") return;
  const amount = state.price === null ? t.text("sum.open") : formatMoney(state.price, state.symbol);
  const title = `${state.merchant.name}: ${amount.replaceAll(/[\u2068\u2069]/g, "")}`;
  parent.reportState(state.stage, { title, close: t.text("common.close") });
}
