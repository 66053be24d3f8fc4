import type { CheckoutInbox, CheckoutStage, CheckoutState } from "../src/checkoutState.ts";
import type { Eip1193Provider } from "./eip1193.ts";

/** A wallet of the parent page, with the calls that it relays. */
export type RelayedWallet = { readonly uuid: string; readonly name: string; readonly icon: string };

type ParentMessage =
  | ({ type: "tributary:announce" } & RelayedWallet)
  | { type: "tributary:result"; call: number; result?: unknown; error?: unknown }
  | { type: "tributary:verified"; addresses: string[] };

/** Known to the SDK, which names the page's origin in the frame's address. Any text: it is compared, never trusted. */
const query = new URLSearchParams(location.search);

/**
 * The merchant's page around this frame. Messages go to its origin alone, and only its own are read. That the origin is
 * on the account's list is enforced by `frame-ancestors`.
 */
export class ParentPage {
  readonly #origin: string;
  readonly #needsApproval = query.get("verify") === "1";
  /** Addresses exactly as the service tells them. On Solana, upper and lower case make different addresses. */
  readonly #asked = new Set<string>();
  readonly #approved = new Set<string>();
  readonly #waiting: { addresses: readonly string[]; resolve: () => void }[] = [];
  readonly #calls = new Map<number, (reply: { result?: unknown; error?: unknown }) => void>();
  #lastCall = 0;
  #stage: CheckoutStage | undefined;
  #isReady = false;
  #height = 0;
  /** Called for each wallet that the parent page announces. */
  onWallet: (wallet: RelayedWallet, provider: Eip1193Provider) => void = () => undefined;

  /** Undefined outside of a frame, and in a frame that the SDK did not make. */
  static find(): ParentPage | undefined {
    const origin = query.get("parent");
    return window.parent === window || origin === null ? undefined : new ParentPage(origin);
  }

  private constructor(origin: string) {
    this.#origin = origin;
    addEventListener("message", ({ source, origin: sender, data }: MessageEvent<ParentMessage | null>) => {
      if (source !== window.parent || sender !== this.#origin) return;
      this.#receive(data);
    });
  }

  /** The options that a reload of the frame keeps. */
  get query(): string {
    return `parent=${encodeURIComponent(this.#origin)}&verify=${this.#needsApproval ? "1" : "0"}`;
  }

  /** Reports that messages are read from now on. */
  start(): void {
    this.#post("listening");
  }

  reportHeight(height: number): void {
    if (height !== this.#height) this.#post("size", { height: (this.#height = height) });
  }

  /** Reports what is on the screen. Repeating reports nothing. */
  reportState(stage: CheckoutStage, labels: { readonly title: string; readonly close: string }): void {
    if (!this.#isReady) this.#post("ready", { ...labels, dir: document.documentElement.dir });
    this.#isReady = true;
    if (stage !== this.#stage) this.#post("status", { stage });
    this.#stage = stage;
  }

  close(): void {
    this.#post("close");
  }

  isApproved(inboxes: readonly CheckoutInbox[]): boolean {
    return !this.#needsApproval || inboxes.every(({ address }) => this.#approved.has(address));
  }

  /**
   * Resolves when the parent page's own check has agreed with every address, and asks about each once. A refusal
   * removes this frame.
   */
  async approve(terms: CheckoutState["terms"], inboxes: readonly CheckoutInbox[]): Promise<void> {
    if (this.isApproved(inboxes)) return;
    const shown = inboxes.map(({ namespace, address }) => ({ namespace, address }));
    const addresses = shown.map(({ address }) => address);
    if (addresses.some((address) => !this.#asked.has(address))) this.#post("verify", { terms, inboxes: shown });
    for (const address of addresses) this.#asked.add(address);
    await new Promise<void>((resolve) => {
      this.#waiting.push({ addresses, resolve });
    });
  }

  #post(type: string, content: object = {}): void {
    window.parent.postMessage({ type: `tributary:${type}`, ...content }, this.#origin);
  }

  #receive(message: ParentMessage | null): void {
    if (message === null) return;
    switch (message.type) {
      case "tributary:announce":
        this.onWallet(message, { request: (call) => this.#relay(message.uuid, call) });
        break;
      case "tributary:result":
        this.#calls.get(message.call)?.(message);
        break;
      case "tributary:verified": {
        for (const address of message.addresses) this.#approved.add(address);
        const waiting = this.#waiting.splice(0);
        for (const each of waiting)
          if (each.addresses.every((address) => this.#approved.has(address))) each.resolve();
          else this.#waiting.push(each);
      }
    }
  }

  async #relay(wallet: string, { method, params = [] }: Parameters<Eip1193Provider["request"]>[0]): Promise<unknown> {
    const call = ++this.#lastCall;
    const { result, error } = await new Promise<{ result?: unknown; error?: unknown }>((resolve) => {
      this.#calls.set(call, resolve);
      this.#post("wallet", { call, wallet, method, params });
    });
    this.#calls.delete(call);
    // An error of a wallet is a plain object with a code.
    if (error !== undefined) return Promise.reject(error as Error);
    return result;
  }
}
