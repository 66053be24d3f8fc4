// What the tests use of wallets of other authors. The packages' own types name another build of Playwright, and the
// browser's parts of Solana.

declare module "headless-web3-provider/dist/module.mjs" {
  import type { Page } from "playwright-core";

  type Kind = "RequestAccounts" | "SendTransaction" | "SwitchEthereumChain" | "AddEthereumChain";
  type HeadlessWallet = { authorize(kind: string): Promise<void>; reject(kind: string): Promise<void> };

  export const Web3RequestKind: Readonly<Record<Kind, string>>;
  type Injected = [
    page: Page,
    privateKeys: readonly string[],
    chainId: number,
    rpcUrl: string,
    options: { readonly permitted: readonly string[] },
  ];
  export function injectHeadlessWeb3Provider(...injected: Injected): Promise<HeadlessWallet>;
}

declare module "@johanneskares/wallet-mock" {
  import type { Page } from "playwright-core";
  import type { Chain, LocalAccount, Transport } from "viem";

  type MockWallet = { request(call: { method: string; params: unknown }): Promise<unknown> };

  export function createWallet(account: LocalAccount, transports: Record<number, Transport>, chain: Chain): MockWallet;
  export function installMockWallet(options: { page: Page; wallet: MockWallet }): Promise<void>;
}

declare module "@solana/web3.js" {
  export class VersionedTransaction {
    static deserialize(bytes: Uint8Array): VersionedTransaction;
    serialize(): Uint8Array;
  }

  export class PublicKey {}

  export class Keypair {
    readonly publicKey: PublicKey;
    static fromSeed(seed: Uint8Array): Keypair;
  }

  export class Transaction {
    sign(...signers: Keypair[]): void;
    serialize(): Uint8Array;
  }

  export class Connection {
    constructor(url: string, commitment: "confirmed");
    sendRawTransaction(bytes: Uint8Array): Promise<string>;
  }
}

declare module "@solana/pay" {
  import type { Connection, PublicKey, Transaction } from "@solana/web3.js";

  export function parseURL(code: string): { link: URL } | { recipient: PublicKey };
  export function fetchTransaction(connection: Connection, account: PublicKey, link: string): Promise<Transaction>;
}

declare module "@solana/wallet-adapter-unsafe-burner" {
  import type { VersionedTransaction } from "@solana/web3.js";

  export class UnsafeBurnerWalletAdapter {
    readonly name: string;
    readonly icon: string;
    readonly publicKey: { toBase58(): string; toBytes(): Uint8Array } | null;
    connect(): Promise<void>;
    signTransaction(transaction: VersionedTransaction): Promise<VersionedTransaction>;
  }
}
