import { sign } from "node:crypto";
import type { BrowserContext, Page } from "playwright-core";
import type { Keypair } from "../../programs/test/support/world.ts";

// A wallet of the Wallet Standard in a page, which signs with the keys of this process.

export type StandardWalletKind =
  /** Signs only; the page sends. */
  | "signs"
  /** Signs, and sends over its own connection. */
  | "sends";

export type StandardWalletOptions = {
  /** It has the first key, and changes to another when the page calls `window.switchAccount(address)`. */
  keys: readonly Pick<Keypair, "address" | "key">[];
  /** The connection of a wallet that sends. */
  send?: ((transaction: Uint8Array) => void) | undefined;
  kind?: StandardWalletKind;
  /** False: like most wallets, it reaches no frame. */
  isInFrames?: boolean;
  /** The chains that its accounts name. */
  chains?: readonly string[];
};

/** How often the wallet was asked to sign. */
export type AskedWallet = {
  count: number;
  refusesNext: boolean;
  /** Runs before the next signature, while the wallet shows the transaction. */
  beforeNext?: (() => void) | undefined;
};

/** Call it before the page loads. In a context, the wallet is in each of its tabs. */
export async function installStandardWallet(
  page: Page | BrowserContext,
  options: StandardWalletOptions,
): Promise<AskedWallet> {
  const { keys, send, kind = "signs", chains = ["solana:localnet"], isInFrames = true } = options;
  const asked: AskedWallet = { count: 0, refusesNext: false };
  await page.exposeFunction("signWithWallet", (address: string, base64: string) => {
    asked.count += 1;
    asked.beforeNext?.();
    asked.beforeNext = undefined;
    if (asked.refusesNext) {
      asked.refusesNext = false;
      throw new Error("User rejected the request.");
    }
    const key = keys.find((each) => each.address === address);
    if (key === undefined) throw new Error(`no key of ${address}`);
    return Buffer.from(signTransaction(new Uint8Array(Buffer.from(base64, "base64")), key)).toString("base64");
  });
  await page.exposeFunction("sendFromWallet", (base64: string) => {
    send?.(new Uint8Array(Buffer.from(base64, "base64")));
  });
  await page.addInitScript(installWallet, { addresses: keys.map(({ address }) => address), kind, chains, isInFrames });
  return asked;
}

/** Puts the signature of the fee payer into its place, which is the first. */
export function signTransaction(transaction: Uint8Array, { key }: Pick<Keypair, "key">): Uint8Array {
  const signed = transaction.slice();
  const message = transaction.slice(1 + 64 * (transaction[0] ?? 0));
  signed.set(sign(null, message, key), 1);
  return signed;
}

type InstalledWallet = {
  addresses: string[];
  kind: StandardWalletKind;
  chains: readonly string[];
  isInFrames: boolean;
};

/** Runs in the browser: registers the wallet when the page announces itself, as a wallet's own script does. */
function installWallet({ addresses, kind, chains, isInFrames }: InstalledWallet): void {
  if (!isInFrames && window.parent !== window) return;
  const host = window as unknown as {
    signWithWallet(address: string, base64: string): Promise<string>;
    sendFromWallet(base64: string): Promise<void>;
    switchAccount(address: string): void;
  };
  const toBase64 = (bytes: Uint8Array) => btoa(String.fromCharCode(...bytes));
  const fromBase64 = (text: string) => Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
  const toAccount = (address: string) => ({ address, publicKey: new Uint8Array(32), chains, features: [] });
  const listeners = new Set<() => void>();
  let accounts = [toAccount(addresses[0] ?? "")];
  type Input = { account: { address: string }; transaction: Uint8Array };
  const signed = async ({ account, transaction }: Input) =>
    fromBase64(
      await host.signWithWallet(account.address, toBase64(transaction)).catch((error: Error) => {
        // A message of the bridge between the page and the test has no code.
        throw error.message.includes("rejected") ? Object.assign(error, { code: 4001 }) : error;
      }),
    );
  const signing = {
    "solana:signTransaction": {
      version: "1.0.0",
      supportedTransactionVersions: ["legacy", 0],
      signTransaction: async (...inputs: Input[]) =>
        Promise.all(inputs.map(async (input) => ({ signedTransaction: await signed(input) }))),
    },
  };
  const sending = {
    "solana:signAndSendTransaction": {
      version: "1.0.0",
      supportedTransactionVersions: ["legacy", 0],
      signAndSendTransaction: async (...inputs: Input[]) =>
        Promise.all(
          inputs.map(async (input) => {
            const transaction = await signed(input);
            await host.sendFromWallet(toBase64(transaction));
            return { signature: transaction.slice(1, 65) };
          }),
        ),
    },
  };
  const wallet = {
    version: "1.0.0",
    name: "Test Wallet",
    icon: "data:image/svg+xml;base64,",
    chains,
    get accounts() {
      return accounts;
    },
    features: {
      "standard:connect": { version: "1.0.0", connect: async () => ({ accounts }) },
      "standard:events": {
        version: "1.0.0",
        on: (_event: "change", listener: () => void) => {
          listeners.add(listener);
          return () => listeners.delete(listener);
        },
      },
      ...(kind === "signs" ? signing : sending),
    },
  };
  // A wallet of other chains, which the page must not list.
  const other = { ...wallet, name: "Other Wallet", chains: ["sui:mainnet"] };
  host.switchAccount = (address) => {
    accounts = [toAccount(address)];
    for (const listener of listeners) listener();
  };
  type Api = { register(...wallets: unknown[]): void };
  const register = (api: Api) => api.register(wallet, other);
  window.addEventListener("wallet-standard:app-ready", (event) => register((event as CustomEvent<Api>).detail));
  window.dispatchEvent(new CustomEvent("wallet-standard:register-wallet", { detail: register }));
}
