import { parseKey } from "@tributary/inbox/solana/keys";

// Wallets of the Wallet Standard: they register themselves by two events of the window, and their features are named.

export type WalletAccount = { readonly address: string; readonly chains: readonly string[] };

type SignInput = { readonly account: WalletAccount; readonly transaction: Uint8Array; readonly chain?: string };

export type WalletFeatures = {
  readonly "standard:connect": { connect(): Promise<{ readonly accounts: readonly WalletAccount[] }> };
  readonly "standard:events"?: { on(event: "change", listener: () => void): () => void };
  readonly "solana:signTransaction"?: {
    signTransaction(input: SignInput): Promise<readonly { readonly signedTransaction: Uint8Array }[]>;
  };
  readonly "solana:signAndSendTransaction"?: {
    signAndSendTransaction(
      input: SignInput & { readonly chain: string },
    ): Promise<readonly { readonly signature: Uint8Array }[]>;
  };
};

export type StandardWallet = {
  readonly name: string;
  readonly chains: readonly string[];
  readonly accounts: readonly WalletAccount[];
  readonly features: WalletFeatures;
};

type RegisterApi = { register(...wallets: readonly unknown[]): () => void };

const SOLANA_CHAIN = /^solana:/;

/** Calls `onChange` for each wallet that registers, now or later, and can sign for Solana. */
export function watchSolanaWallets(onChange: (wallets: readonly StandardWallet[]) => void): void {
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
  window.addEventListener("wallet-standard:register-wallet", (event) => {
    (event as CustomEvent<(given: RegisterApi) => void>).detail(api);
  });
  window.dispatchEvent(new CustomEvent("wallet-standard:app-ready", { detail: api }));
  onChange([...registered]);
}

function isUsable(wallet: unknown): wallet is StandardWallet {
  const { name, chains, features } = (wallet ?? {}) as Partial<StandardWallet>;
  return (
    typeof name === "string" &&
    Array.isArray(chains) &&
    chains.some((chain: unknown) => SOLANA_CHAIN.test(String(chain))) &&
    features?.["standard:connect"] !== undefined &&
    (features["solana:signTransaction"] !== undefined || features["solana:signAndSendTransaction"] !== undefined)
  );
}

/** Asks the wallet for its first account on Solana. Throws an Error when it has none. */
export async function connectWallet({ name, features }: StandardWallet): Promise<WalletAccount> {
  const { accounts } = await features["standard:connect"].connect();
  const account = findAccount(accounts);
  if (account === undefined) throw new Error(`${name} returned no account on Solana.`);
  return account;
}

export function findAccount(accounts: readonly WalletAccount[]): WalletAccount | undefined {
  return accounts.find(
    ({ address, chains }) => parseKey(address) !== undefined && chains.some((chain) => SOLANA_CHAIN.test(chain)),
  );
}
