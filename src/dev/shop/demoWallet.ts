import { formatUnits, isHex, numberToHex, type Hex } from "viem";
import type { LocalChain, LocalToken } from "../chains/localChains.ts";
import { createDevClient, sendCallsOrThrow, signCalls } from "../chains/devClient.ts";
import { balanceOf, mintCall } from "../chains/tokens.ts";
import { DEV_ACCOUNTS } from "../devAccounts.ts";

const GIFT_TOKENS = 1_000n;

/** An error of EIP-1193. */
export class WalletError extends Error {
  readonly code: number;
  constructor(code: number, message: string) {
    super(message);
    this.code = code;
  }
}

export type DemoWallet = {
  /** Answers one call as a wallet does. Throws WalletError. */
  request(method: string, params: readonly unknown[]): Promise<unknown>;
  balance(): Promise<{ network: string; balance: string }>;
  /** Mints 1,000 of the first chain's first token. */
  addMoney(): Promise<void>;
};

export function formatBalance(units: bigint, { symbol, decimals }: Pick<LocalToken, "symbol" | "decimals">): string {
  const amount = Number(formatUnits(units, decimals)).toLocaleString("en", { minimumFractionDigits: 2 });
  return `${amount} ${symbol}`;
}

/**
 * The wallet of the demo shop: the dev world's payer on its local chains. It confirms every transaction without asking.
 */
export function createDemoWallet(chains: readonly LocalChain[]): DemoWallet {
  const { address } = DEV_ACCOUNTS.payer;
  const [home] = chains;
  let current = home;
  // Transactions of one account take consecutive nonces.
  let last: Promise<unknown> = Promise.resolve();
  const inOrder = <T>(run: () => Promise<T>): Promise<T> => {
    const next = last.then(run, run);
    last = next;
    return next;
  };
  const findChain = (chainId: unknown): LocalChain => {
    const chain = chains.find((each) => isHex(chainId) && BigInt(chainId) === BigInt(each.chainId));
    if (chain === undefined) throw new WalletError(4902, "This wallet does not know the network.");
    return chain;
  };
  const homeToken = (): { chain: LocalChain; token: LocalToken } => {
    const token = home?.tokens[0];
    if (home === undefined || token === undefined) throw new WalletError(-32_603, "The wallet has no chain.");
    return { chain: home, token };
  };
  const readCall = (transaction: Record<string, unknown>) => {
    const chain = findChain(transaction["chainId"] ?? numberToHex((current ?? homeToken().chain).chainId));
    const { to, data } = transaction;
    if (!isHex(to) || !isHex(data)) throw new WalletError(-32_602, "to and data must be hexadecimal.");
    return { client: createDevClient(chain.rpcUrl), call: { to, data } };
  };
  const send = async (transaction: Record<string, unknown>): Promise<Hex> => {
    const { client, call } = readCall(transaction);
    const [serializedTransaction] = await signCalls(client, DEV_ACCOUNTS.payer, [call]);
    if (serializedTransaction === undefined) throw new WalletError(-32_603, "Nothing was signed.");
    return client.sendRawTransaction({ serializedTransaction });
  };
  return {
    async request(method, params) {
      const first = (params[0] ?? {}) as Record<string, unknown>;
      switch (method) {
        case "eth_requestAccounts":
        case "eth_accounts":
          return [address];
        case "eth_chainId":
          return numberToHex((current ?? homeToken().chain).chainId);
        case "wallet_switchEthereumChain":
          current = findChain(first["chainId"]);
          return null;
        case "eth_sendTransaction":
          return inOrder(() => send(first));
        case "eth_estimateGas": {
          const { client, call } = readCall(first);
          return numberToHex(await client.estimateGas({ account: address, ...call }));
        }
        default:
          throw new WalletError(4200, `This wallet does not have ${method}.`);
      }
    },
    async balance() {
      const { chain, token } = homeToken();
      const units = await balanceOf(createDevClient(chain.rpcUrl), token.address, address);
      return { network: chain.name, balance: formatBalance(units, token) };
    },
    async addMoney() {
      const { chain, token } = homeToken();
      const call = mintCall(token.address, address, GIFT_TOKENS * 10n ** BigInt(token.decimals));
      await inOrder(() => sendCallsOrThrow(createDevClient(chain.rpcUrl), DEV_ACCOUNTS.issuer, [call]));
    },
  };
}
