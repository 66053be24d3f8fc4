import { findBaseUrl } from "./configure.ts";
import { openModal, type Modal } from "./modal.ts";
import { relayWallets, type WalletCall, type WalletRelay } from "./relayWallets.ts";
import type { Checkout, CheckoutErrorCode, CheckoutEvents, MountOptions, PaymentStage, ShownPayment } from "./types.ts";

export { configure } from "./configure.ts";
export type {
  Checkout,
  CheckoutErrorCode,
  CheckoutEvents,
  MountOptions,
  PaymentStage,
  PayoutCheck,
  ShownPayment,
} from "./types.ts";

const HEIGHT_START_PX = 640;
const HEIGHT_MIN_PX = 320;
const HEIGHT_MAX_PX = 2_400;

/** A selector stands for its element until the document is ready; "" is the modal. */
type Place = Element | string;

/** What is open, by its place. A second mount in the same place continues the first or replaces it. */
const mounted = new Map<Place, MountedCheckout>();

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
 * Opens the checkout of an intent: `mount(intentId)` as a modal, `mount({ intentId, target })` in an element. Works
 * before the document is ready, and twice. On a server it does nothing. Throws a TypeError for wrong options;
 * everything later comes as an `error` event.
 */
export function mount(given: MountOptions | string): Checkout {
  const options = typeof given === "string" ? { intentId: given } : given;
  const { intentId, target } = options;
  if (!/^pi_\w+$/.test(intentId)) throw TypeError(`intentId must be an intent's id, not ${intentId}`);
  if (typeof document === "undefined") return { update() {}, unmount() {}, on: () => () => {} };
  const mode = options.mode ?? (target === undefined ? "modal" : "inline");
  const place = mode === "inline" && target ? (findElement(target) ?? target) : "";
  const present = mounted.get(place);
  if (present?.options.intentId === intentId) {
    present.update(options);
    return present;
  }
  present?.unmount();
  return new MountedCheckout(options, mode, place);
}

/** "" is itself: it names no element. */
function findElement(place: Place): Place | null {
  return typeof place === "string" && place ? document.querySelector(place) : place;
}

class MountedCheckout implements Checkout {
  options: MountOptions;
  readonly #mode: string;
  #place: Place;
  readonly #address: string;
  readonly #origin: string;
  readonly #listeners = new Map<string, Set<(event: never) => void>>();
  /** Addresses that the merchant's own code agreed with, in lower case: a wallet names an EVM address in any case. */
  readonly #verified = new Set<string>();
  #frame: HTMLIFrameElement | undefined;
  #modal: Modal | undefined;
  #wallets: WalletRelay | undefined;
  #stage: PaymentStage | undefined;
  #hasPaid = false;
  #round = 0;
  #isOver = false;

  constructor(options: MountOptions, mode: string, place: Place) {
    this.options = options;
    this.#mode = mode;
    this.#place = place;
    this.#address = `${findBaseUrl(options.baseUrl)}/c/${options.intentId}`;
    this.#origin = new URL(this.#address).origin;
    if (mode !== "redirect") mounted.set(place, this);
    if (document.readyState === "loading") addEventListener("DOMContentLoaded", this.#start);
    // Later, so that a listener of the caller exists.
    else queueMicrotask(this.#start);
  }

  update(changes: Partial<MountOptions>): void {
    const { theme, locale } = this.options;
    this.options = { ...this.options, ...changes };
    if (this.#frame && (theme !== this.options.theme || locale !== this.options.locale)) void this.#load();
  }

  unmount(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    removeEventListener("message", this.#receive);
    this.#wallets?.stop();
    this.#modal?.remove();
    this.#frame?.remove();
    if (mounted.get(this.#place) === this) mounted.delete(this.#place);
  }

  on<Name extends keyof CheckoutEvents>(name: Name, listener: (event: CheckoutEvents[Name]) => void): () => void {
    const set = this.#listeners.get(name) ?? new Set();
    this.#listeners.set(name, set.add(listener));
    return () => set.delete(listener);
  }

  readonly #start = (): void => {
    if (this.#isOver) return;
    if (this.#mode !== "redirect" && !this.#addFrame()) return;
    void this.#load();
  };

  #addFrame(): boolean {
    const { theme, expectedPayout } = this.options;
    const place = this.#place;
    const target = findElement(place);
    if (target === null) {
      this.#fail("no_target");
      return false;
    }
    mounted.delete(place);
    mounted.set((this.#place = target), this);
    const frame = (this.#frame = document.createElement("iframe"));
    frame.allow = "clipboard-write";
    frame.title = "Payment";
    if (expectedPayout) frame.style.visibility = "hidden";
    addEventListener("message", this.#receive);
    if (typeof target === "string") {
      this.#modal = openModal(frame, theme, () => {
        this.unmount();
        this.#emit<"close">("Close", {});
      });
    } else {
      frame.style.cssText += `display:block;border:0;width:100%;min-width:280px;height:${HEIGHT_START_PX}px`;
      target.append(frame);
    }
    return true;
  }

  /** Opens the checkout with a ticket. A later round makes an earlier one void. */
  async #load(): Promise<void> {
    const round = ++this.#round;
    const isVoid = () => this.#isOver || round !== this.#round;
    const fail = (code: CheckoutErrorCode) => void (isVoid() || this.#fail(code));
    try {
      // Without a body and headers of its own the request needs no preflight.
      const ask = (mode: RequestMode) =>
        fetch(`${this.#address}/session`, { method: "POST", credentials: "omit", mode });
      // A browser hides the refusal of an unlisted origin, as if nobody had answered. Without CORS it has the status 0.
      const response = await ask("cors").catch(() => ask("no-cors"));
      const { status } = response;
      if (status !== 200) return fail(status ? (status === 401 ? "wrong_intent" : "not_opened") : "wrong_origin");
      const { ticket } = (await response.json()) as { ticket?: string };
      if (isVoid()) return;
      const { locale, theme, expectedPayout } = this.options;
      const query = new URLSearchParams({
        ...(locale && { locale }),
        ...(theme && { theme }),
        ...(this.#frame && { mode: this.#mode, parent: location.origin, verify: expectedPayout ? "1" : "0" }),
      });
      const url = `${this.#address}?${query}#${ticket}`;
      if (this.#frame) this.#frame.src = url;
      else location.assign(url);
    } catch {
      fail("not_opened");
    }
  }

  readonly #receive = ({ data, source, origin }: MessageEvent<FrameMessage | null>): void => {
    const frame = this.#frame;
    if (!frame || !source || source !== frame.contentWindow || origin !== this.#origin) return;
    if (!data) return;
    switch (data.type) {
      case "tributary:listening":
        this.#wallets?.stop();
        this.#wallets = relayWallets(this.#post, (to, token, chainId) => {
          const { expectedPayout: check } = this.options;
          return !check || (check.mayAsk?.(token, chainId) !== false && this.#verified.has(`0x${to}`));
        });
        break;
      case "tributary:ready":
        frame.title = data.title;
        this.#modal?.label(data);
        this.#emit<"ready">("Ready", {});
        break;
      case "tributary:size":
        // What is no number makes no height, and changes nothing.
        if (this.#mode === "inline")
          frame.style.height = `${Math.min(Math.max(data.height, HEIGHT_MIN_PX), HEIGHT_MAX_PX)}px`;
        break;
      case "tributary:status":
        this.#reportStage(data.stage);
        break;
      case "tributary:verify":
        void this.#verify(data);
        break;
      case "tributary:wallet":
        void this.#wallets?.handle(data);
        break;
      case "tributary:close":
        this.#modal?.box.close();
    }
  };

  #reportStage(stage: PaymentStage): void {
    if (this.#stage !== stage) this.#emit<"status">("Status", { stage: (this.#stage = stage) });
    if (this.#hasPaid || (stage !== "paid" && stage !== "overpaid")) return;
    this.#hasPaid = true;
    this.#emit<"paid">("Paid", { stage });
  }

  /** Fails closed: an error of the check refuses. */
  async #verify({ terms, inboxes }: ShownPayment): Promise<void> {
    const result = await Promise.resolve({ terms, inboxes }).then(this.options.expectedPayout).catch(console.error);
    if (this.#isOver || !this.#frame) return;
    if (result !== true) return this.#fail("not_verified", this.options.expectedPayout?.reason);
    const addresses = inboxes.map(({ address }) => {
      this.#verified.add(address.toLowerCase());
      return address;
    });
    this.#frame.style.visibility = "";
    this.#post("verified", { addresses });
  }

  readonly #post = (type: string, content: object): void =>
    this.#frame?.contentWindow?.postMessage({ type: `tributary:${type}`, ...content }, this.#origin);

  #fail(code: CheckoutErrorCode, message: string = code): void {
    this.unmount();
    console.error(message);
    this.#emit<"error">("Error", { code, message });
  }

  #emit<Name extends keyof CheckoutEvents>(
    name: Capitalize<Name>,
    content: Omit<CheckoutEvents[Name], "intentId">,
  ): void {
    const event = { intentId: this.options.intentId, ...content } as never;
    this.options[`on${name}` as "onReady"]?.(event);
    for (const listener of this.#listeners.get(name.toLowerCase()) ?? []) listener(event);
  }
}
