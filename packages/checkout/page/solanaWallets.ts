import type { CheckoutOrigin, CheckoutOrigins, CheckoutState } from "../src/checkoutState.ts";
import type { AddressCheck, ShownWallet } from "../src/situation.ts";
import { shownWallet } from "./browserWallets.ts";
import type * as Part from "./solana/part.ts";
import type { StandardWallet } from "./solana/standardWallets.ts";
import type { WalletReply } from "./walletReply.ts";

type Payment = {
  readonly state: CheckoutState;
  readonly transfer: { readonly origin: CheckoutOrigin; readonly to: string; readonly units: bigint };
  readonly hand: () => boolean;
};

/** The part of the script for payments on Solana. It loads when the first such payment is verified. */
export class SolanaWallets {
  readonly #onChange: () => void;
  #part: typeof Part | undefined;
  #isLoading = false;
  #wallets: readonly StandardWallet[] = [];

  /** `onChange`: the part has loaded, or a wallet has come or gone. */
  constructor(onChange: () => void) {
    this.#onChange = onChange;
  }

  list(): ShownWallet[] {
    return this.#wallets.map(({ name, icon }) => shownWallet("solana", { id: `solana ${name}`, name, icon }));
  }

  /** "unchecked" until the part has loaded; each call tries again where that failed. */
  verify(state: CheckoutState, origins: CheckoutOrigins | null): AddressCheck {
    if (state.inboxes.every(({ namespace }) => namespace !== "solana")) return { outcome: "ok" };
    if (this.#part !== undefined) return this.#part.verifySolanaInboxes(state, origins);
    void this.#load();
    return { outcome: "unchecked" };
  }

  async pay(walletId: string, { state, transfer, hand }: Payment): Promise<WalletReply> {
    const wallet = this.#wallets.find(({ name }) => `solana ${name}` === walletId);
    const { origin, to: address, units } = transfer;
    const { solana, solanaRoutes = [] } = state.terms;
    const terms = [solana, ...solanaRoutes].find((each) => each?.mint === origin.tokenAddress);
    if (wallet === undefined || terms === undefined || this.#part === undefined) return {};
    return this.#part.payOnSolana(wallet, {
      // Where there is no price, the request names the amount that the payer typed.
      requestUrl: `/c/${state.intentId}/solana-pay${state.remainingUnits === null ? `?units=${units}` : ""}`,
      cluster: origin.reference,
      publicRpcUrl: origin.publicRpcUrl,
      inbox: { address, mint: terms.mint, tokenProgram: terms.tokenProgram },
      units,
      decimals: origin.decimals,
      hand,
    });
  }

  async #load(): Promise<void> {
    if (this.#isLoading) return;
    this.#isLoading = true;
    try {
      // Beside this script, and not in it: the bundler leaves computed addresses alone.
      const part = (await import(new URL("solana.js", import.meta.url).href)) as typeof Part;
      this.#part = part;
      part.watchStandardWallets((wallets) => {
        this.#wallets = wallets;
        this.#onChange();
      });
      this.#onChange();
    } catch {
      this.#isLoading = false;
    }
  }
}
