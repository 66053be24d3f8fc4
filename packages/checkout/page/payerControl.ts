import type { CheckoutOrigin, CheckoutState } from "../src/checkoutState.ts";
import { IDLE, isOpen, nextSide, type PayerEvent, type PayerRequest, type PayerSide } from "../src/payerSide.ts";
import type { BrowserWallet } from "./browserWallets.ts";
import { followTransfer } from "./followTransfer.ts";
import type { WalletReply } from "./walletReply.ts";

const FOLLOW_MS = 4_000;
/** When a sentence about an open request may change without an event. */
const REDRAW_MS = 30_000;

export type Asked = Pick<PayerRequest, "wallet" | "originId" | "networkName" | "amount" | "call" | "known">;

/** Keeps the payer's side over reloads, and asks wallets what became of their transfers. */
export class PayerControl {
  #side: PayerSide = IDLE;
  #attempts = Date.now();
  readonly #key: string;
  readonly #onChange: (side: PayerSide) => void;

  constructor(intentId: string, onChange: (side: PayerSide) => void) {
    this.#key = `tributary:request:${intentId}`;
    this.#onChange = onChange;
    try {
      const stored = sessionStorage.getItem(this.#key);
      if (stored !== null) this.#apply({ type: "restored", request: JSON.parse(stored) as PayerRequest });
    } catch {
      // A frame may have no storage: then an open request lasts as long as the page.
    }
    setInterval(() => isOpen(this.#side) && this.#onChange(this.#side), REDRAW_MS);
  }

  get side(): PayerSide {
    return this.#side;
  }

  /** Runs one attempt. `ask` gets the function to call before the wallet gets the transfer. */
  async pay(asked: Asked, ask: (hand: () => boolean) => Promise<WalletReply>): Promise<WalletReply> {
    if (isOpen(this.#side)) return {};
    const attempt = ++this.#attempts;
    this.#apply({ type: "pressed", request: { ...asked, attempt, askedAt: Date.now() } });
    const isCurrent = () => this.#side.request?.attempt === attempt;
    const reply = await ask(() => {
      this.#apply({ type: "handed", attempt });
      return isCurrent();
    });
    if ("hash" in reply) this.#apply({ type: "answered", attempt, hash: reply.hash });
    else this.#apply({ type: "failed", attempt, reason: reply.reason });
    return reply;
  }

  /** Follows the hash on the wallet's own connection while the request is open. */
  follow(
    findWallet: (name: string) => BrowserWallet | undefined,
    findOrigin: (id: string) => CheckoutOrigin | undefined,
  ): void {
    let following = { wasThere: false };
    let followed: string | null = null;
    const look = async () => {
      const { request } = this.#side;
      if (request === null || request.hash === null || request.call === null || request.step === "mined") return;
      if (followed !== request.hash) following = { wasThere: false };
      followed = request.hash;
      const wallet = findWallet(request.wallet);
      const origin = findOrigin(request.originId);
      if (wallet === undefined || wallet.isRelayed || origin === undefined) return;
      const found = await followTransfer(wallet.provider, { ...request, chainId: origin.chainId }, following);
      if (found !== undefined) this.#apply({ type: "followed", attempt: request.attempt, found });
    };
    setInterval(() => void look(), FOLLOW_MS);
  }

  arrived(state: CheckoutState): void {
    this.#apply({ type: "arrived", state });
  }

  /** The payer says that nothing was sent. */
  deny(): void {
    this.#apply({ type: "denied", now: Date.now() });
  }

  /** Forgets what a wallet said, and an attempt that it got nothing of. An open request stays. */
  clear(note: PayerSide["note"] = null): void {
    if (!isOpen(this.#side)) this.#set({ request: null, note });
  }

  #apply(event: PayerEvent): void {
    this.#set(nextSide(this.#side, event));
  }

  #set(side: PayerSide): void {
    if (side === this.#side) return;
    this.#side = side;
    try {
      if (isOpen(side)) sessionStorage.setItem(this.#key, JSON.stringify(side.request));
      else sessionStorage.removeItem(this.#key);
    } catch {
      // As above.
    }
    this.#onChange(side);
  }
}
