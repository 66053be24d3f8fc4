// Wallets in this browser that sign texts: of EVM chains by EIP-6963, of Solana by the Wallet Standard.

/** `connect` resolves to the address, `sign` to the signature in hexadecimal digits. Both reject as the wallet does. */
export type TextSigner = {
  readonly name: string;
  connect(): Promise<string>;
  /** The chain that it is on, which matters where it is a contract; empty where there is only one. */
  chainId(): Promise<string>;
  sign(address: string, text: string): Promise<string>;
};

type Eip1193 = { request(call: { method: string; params?: readonly unknown[] }): Promise<unknown> };
type Account = { readonly address: string; readonly chains?: readonly string[] };
type StandardWallet = {
  readonly name: string;
  readonly features: {
    readonly "standard:connect": { connect(): Promise<{ readonly accounts: readonly Account[] }> };
    readonly "solana:signMessage": {
      signMessage(input: {
        account: Account;
        message: Uint8Array;
      }): Promise<readonly { readonly signature: Uint8Array }[]>;
    };
  };
};

const LEGACY_WAIT_MS = 400;
const NAME_CHARACTERS_MAX = 40;

/** Calls `onWallet` for each wallet that announces itself, now or later. Without any, `window.ethereum` is one. */
export function watchTextSigners(onWallet: (wallet: TextSigner) => void): void {
  let isAny = false;
  const add = (wallet: TextSigner) => {
    isAny = true;
    onWallet(wallet);
  };
  const announced = new Set<unknown>();
  addEventListener("eip6963:announceProvider", (event) => {
    const { info, provider } = ((event as CustomEvent<unknown>).detail ?? {}) as {
      info?: { uuid?: unknown; name?: unknown };
      provider?: Eip1193;
    };
    if (typeof info?.name !== "string" || typeof provider?.request !== "function" || announced.has(info.uuid)) return;
    announced.add(info.uuid);
    add(evmSigner(info.name, provider));
  });
  dispatchEvent(new Event("eip6963:requestProvider"));
  const api = {
    register(...wallets: readonly unknown[]) {
      for (const wallet of wallets.filter(isStandardWallet)) add(solanaSigner(wallet));
      return () => undefined;
    },
  };
  addEventListener("wallet-standard:register-wallet", (event) => {
    const { detail } = event as CustomEvent<unknown>;
    if (typeof detail === "function") (detail as (given: typeof api) => void)(api);
  });
  dispatchEvent(new CustomEvent("wallet-standard:app-ready", { detail: api }));
  setTimeout(() => {
    const provider = (window as { ethereum?: Eip1193 }).ethereum;
    if (!isAny && typeof provider?.request === "function") add(evmSigner("Web3 Wallet", provider));
  }, LEGACY_WAIT_MS);
}

function evmSigner(name: string, provider: Eip1193): TextSigner {
  return {
    name: name.slice(0, NAME_CHARACTERS_MAX),
    async connect() {
      const accounts = await provider.request({ method: "eth_requestAccounts" });
      return String((accounts as readonly unknown[])[0]);
    },
    async chainId() {
      return BigInt(String(await provider.request({ method: "eth_chainId" }))).toString();
    },
    async sign(address, text) {
      const bytes = `0x${toHex(new TextEncoder().encode(text))}`;
      return String(await provider.request({ method: "personal_sign", params: [bytes, address] })).replace(/^0x/, "");
    },
  };
}

function solanaSigner({ name, features }: StandardWallet): TextSigner {
  let accounts: readonly Account[] = [];
  return {
    name: name.slice(0, NAME_CHARACTERS_MAX),
    async connect() {
      ({ accounts } = await features["standard:connect"].connect());
      const [first] = accounts;
      if (first === undefined) throw new Error("the wallet has no account");
      return first.address;
    },
    chainId: () => Promise.resolve(""),
    async sign(address, text) {
      const account = accounts.find((each) => each.address === address);
      if (account === undefined) throw new Error("the wallet has no such account");
      const message = new TextEncoder().encode(text);
      const [signed] = await features["solana:signMessage"].signMessage({ account, message });
      if (signed === undefined) throw new Error("the wallet returned no signature");
      return toHex(signed.signature);
    },
  };
}

/** Anything can register: only wallets that connect and sign texts are listed. */
function isStandardWallet(wallet: unknown): wallet is StandardWallet {
  const { name, features } = (wallet ?? {}) as Partial<StandardWallet>;
  return typeof name === "string" && !!features?.["standard:connect"] && !!features["solana:signMessage"];
}

function toHex(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}
