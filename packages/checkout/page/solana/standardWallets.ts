// Wallets of the Wallet Standard: they register themselves by two events of the window, and their features are named.

export type WalletAccount = { readonly address: string; readonly chains: readonly string[] };

type SignInput = { readonly account: WalletAccount; readonly transaction: Uint8Array; readonly chain: string };

type SendOptions = { readonly preflightCommitment: "confirmed" };

export type StandardWallet = {
  readonly name: string;
  readonly icon: unknown;
  readonly chains: readonly string[];
  readonly features: {
    readonly "standard:connect": { connect(): Promise<{ readonly accounts: readonly WalletAccount[] }> };
    readonly "solana:signTransaction"?: {
      signTransaction(input: SignInput): Promise<readonly { readonly signedTransaction: Uint8Array }[]>;
    };
    readonly "solana:signAndSendTransaction"?: {
      signAndSendTransaction(
        input: SignInput & { readonly options: SendOptions },
      ): Promise<readonly { readonly signature: Uint8Array }[]>;
    };
  };
};

type RegisterApi = { register(...wallets: readonly unknown[]): () => void };

/** Calls `onChange` for each wallet that registers, now or later, and can pay on Solana. */
export function watchStandardWallets(onChange: (wallets: readonly StandardWallet[]) => void): void {
  const registered = new Set<StandardWallet>();
  const api: RegisterApi = {
    register(...wallets) {
      const usable = wallets.filter(isUsable);
      for (const wallet of usable) registered.add(wallet);
      onChange([...registered]);
      return () => {
        for (const wallet of usable) registered.delete(wallet);
        onChange([...registered]);
      };
    },
  };
  addEventListener("wallet-standard:register-wallet", (event) => {
    const { detail } = event as CustomEvent<unknown>;
    if (typeof detail === "function") (detail as (given: RegisterApi) => void)(api);
  });
  dispatchEvent(new CustomEvent("wallet-standard:app-ready", { detail: api }));
}

/** Anything can register: only wallets that can connect, and sign or send for Solana, are listed. */
function isUsable(wallet: unknown): wallet is StandardWallet {
  const { name, chains, features } = (wallet ?? {}) as Partial<StandardWallet>;
  return (
    typeof name === "string" &&
    Array.isArray(chains) &&
    chains.some((chain: unknown) => String(chain).startsWith("solana:")) &&
    features?.["standard:connect"] !== undefined &&
    (features["solana:signTransaction"] !== undefined || features["solana:signAndSendTransaction"] !== undefined)
  );
}
