import { findBaseUrl } from "./configure.ts";
import { openModal, type Modal } from "./modal.ts";
import { relayWallets, type WalletCall, type WalletRelay } from "./relayWallets.ts";
import type { Checkout, CheckoutErrorCode, CheckoutEvents, MountOptions, PaymentStage, ShownPayment } from "./types.ts";

const HEIGHT_START_PX = 640;
const HEIGHT_MIN_PX = 320;
const HEIGHT_MAX_PX = 2_400;

const HANDLERS = {
  ready: "onReady",
  status: "onStatus",
  paid: "onPaid",
  error: "onError",
  close: "onClose",
} as const;

/** A selector stands for its element until the document is ready; "" is the modal. */
type Place = Element | string;
type Mounted = Checkout & { readonly options: MountOptions };

/** What is open, by its place. A second mount in the same place continues the first or replaces it. */
const mounted = new Map<Place, Mounted>();

/** What a frame may say. It is checked before this type is believed. */
type FrameMessage =
  | { type: "tributary:listening" }
  | { type: "tributary:ready"; title: string; close: string; dir: string }
  | { type: "tributary:size"; height: number }
  | { type: "tributary:status"; stage: PaymentStage }
  | ({ type: "tributary:verify" } & ShownPayment)
  | ({ type: "tributary:wallet" } & WalletCall)
  | { type: "tributary:close" };

/**
 * Opens the checkout of an intent: `mount(intentId)` as a modal, `mount({ intentId, target })` in an element. Works before the document is
 * ready, and twice. On a server it does nothing. Throws a TypeError for wrong options; everything later comes as an `error` event.
 */
export function mount(given: MountOptions | string): Checkout {
  const options = typeof given === "string" ? { intentId: given } : given;
  const { intentId, target } = options;
  if (!/^pi_\w+$/.test(intentId)) throw new TypeError(`intentId must be an intent's id, not ${intentId}`);
  if (typeof document === "undefined") return { update() {}, unmount() {}, on: () => () => {} };
  const mode = options.mode ?? (target === undefined ? "modal" : "inline");
  const place =
    mode === "inline" && target ? (typeof target === "string" && document.querySelector(target)) || target : "";
  const present = mounted.get(place);
  if (present?.options.intentId === intentId) {
    present.update(options);
    return present;
  }
  present?.unmount();
  return open(options, mode, place);
}

function open(initial: MountOptions, mode: string, place: Place): Checkout {
  let options = initial;
  const { intentId, expectedPayout } = initial;
  const address = `${findBaseUrl(initial.baseUrl)}/c/${intentId}`;
  const { origin } = new URL(address);
  const listeners = new Map<string, Set<(event: never) => void>>();
  const verified = new Set<string>();
  let frame: HTMLIFrameElement | undefined;
  let modal: Modal | undefined;
  let wallets: WalletRelay | undefined;
  let stage: PaymentStage | undefined;
  let hasPaid = false;
  let round = 0;
  let isOver = false;

  const emit = <Name extends keyof CheckoutEvents>(name: Name, content: Omit<CheckoutEvents[Name], "intentId">) => {
    const event = { intentId, ...content } as never;
    options[HANDLERS[name]]?.(event);
    for (const listener of listeners.get(name) ?? []) listener(event);
  };
  const fail = (code: CheckoutErrorCode, message: string) => {
    checkout.unmount();
    console.error(`Tributary: ${message}`);
    emit("error", { code, message });
  };
  const post = (type: string, content: object) =>
    frame?.contentWindow?.postMessage({ type: `tributary:${type}`, ...content }, origin);

  const receive = ({ data, source, origin: sender }: MessageEvent<FrameMessage | null>) => {
    if (!source || source !== frame?.contentWindow || sender !== origin) return;
    switch (data?.type) {
      case "tributary:listening":
        wallets?.stop();
        wallets = relayWallets(post, (to) => !!to && (!expectedPayout || verified.has(`0x${to}`)));
        break;
      case "tributary:ready":
        frame.title = data.title;
        modal?.label(data);
        emit("ready", {});
        break;
      case "tributary:size":
        if (mode === "inline" && Number.isFinite(data.height))
          frame.style.height = `${Math.min(Math.max(data.height, HEIGHT_MIN_PX), HEIGHT_MAX_PX)}px`;
        break;
      case "tributary:status":
        if (stage !== data.stage) emit("status", { stage: (stage = data.stage) });
        if ((stage === "paid" || stage === "overpaid") && !hasPaid) {
          hasPaid = true;
          emit("paid", { stage });
        }
        break;
      case "tributary:verify":
        void verify(data);
        break;
      case "tributary:wallet":
        void wallets?.handle(data);
        break;
      case "tributary:close":
        modal?.box.close();
    }
  };
  /** Fails closed: an error of the check refuses. */
  const verify = async ({ terms, inboxes }: ShownPayment) => {
    const isOk = await Promise.resolve({ terms, inboxes }).then(expectedPayout).catch(console.error);
    if (isOver || !frame) return;
    if (isOk !== true) return fail("not_verified", "an address is not the expected payout's");
    const addresses = inboxes.map((inbox) => inbox.address.toLowerCase());
    for (const each of addresses) verified.add(each);
    frame.style.visibility = "";
    post("verified", { addresses });
  };
  const load = async () => {
    const current = ++round;
    try {
      // Without a body and headers of its own the request needs no preflight.
      const response = await fetch(`${address}/session`, { method: "POST", credentials: "omit" });
      const { ticket } = (await response.json()) as { ticket?: string };
      if (!ticket) throw new Error();
      if (isOver || current !== round) return;
      const { locale, theme } = options;
      const query = new URLSearchParams({
        ...(locale && { locale }),
        ...(theme && { theme }),
        ...(frame && { mode, parent: location.origin, verify: expectedPayout ? "1" : "0" }),
      });
      const url = `${address}?${query}#${ticket}`;
      if (frame) frame.src = url;
      else location.assign(url);
    } catch {
      if (!isOver && current === round)
        fail("not_opened", `${origin} did not answer, or ${location.origin} is not one of the account's page origins`);
    }
  };
  const start = () => {
    if (isOver) return;
    if (mode !== "redirect") {
      const target = typeof place === "string" && place ? document.querySelector(place) : place;
      if (target === null) return fail("no_target", `no element matches ${String(place)}`);
      mounted.delete(place);
      mounted.set((place = target), checkout);
      frame = document.createElement("iframe");
      frame.allow = "clipboard-write";
      frame.title = "Payment";
      if (expectedPayout) frame.style.visibility = "hidden";
      addEventListener("message", receive);
      if (typeof target === "string") {
        modal = openModal(frame, options.theme, () => {
          checkout.unmount();
          emit("close", {});
        });
      } else {
        frame.style.cssText += `display:block;border:0;width:100%;min-width:280px;height:${HEIGHT_START_PX}px`;
        target.append(frame);
      }
    }
    void load();
  };
  const checkout: Mounted = {
    get options() {
      return options;
    },
    update(changes) {
      const before = options;
      options = { ...options, ...changes };
      if (frame && (before.theme !== options.theme || before.locale !== options.locale)) void load();
    },
    unmount() {
      if (isOver) return;
      isOver = true;
      removeEventListener("message", receive);
      removeEventListener("DOMContentLoaded", start);
      wallets?.stop();
      modal?.remove();
      frame?.remove();
      if (mounted.get(place) === checkout) mounted.delete(place);
    },
    on(name, listener) {
      const set = listeners.get(name) ?? new Set();
      listeners.set(name, set.add(listener));
      return () => set.delete(listener);
    },
  };
  if (mode !== "redirect") mounted.set(place, checkout);
  if (document.readyState === "loading") addEventListener("DOMContentLoaded", start);
  // Later, so that a listener of the caller exists.
  else queueMicrotask(start);
  return checkout;
}
