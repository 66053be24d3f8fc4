import type { Page } from "playwright-core";
import { createWalletClient, http, type Hex } from "viem";
import { privateKeyToAccount } from "viem/accounts";

export type WalletCall = { readonly method: string; readonly params: readonly unknown[] };

type AddedChain = { chainId: string; rpcUrls: string[] };
type TransferCall = { to: Hex; data: Hex; gas?: Hex };

/**
 * A wallet in the page's browser, announced by EIP-6963. It begins on a chain of its own and knows no other: it takes a
 * chain's RPC URL from the page. It signs with the given key and sends real transactions.
 */
export class TestWallet {
  readonly calls: WalletCall[] = [];
  readonly #privateKey: Hex;
  readonly #rpcUrls = new Map<string, string>();
  #chainId = "0x1";
  /** The method whose next call it refuses, as a person can. */
  refusesNext: string | undefined;
  /** Estimates a transfer as if it went to this address. */
  estimatesAs: { inbox: string; like: string } | undefined;

  constructor(privateKey: string) {
    this.#privateKey = `0x${privateKey.replace(/^0x/, "")}`;
  }

  /** Makes the wallet know a chain, as one that the person has added before. */
  addChain(chainId: number, rpcUrl: string): void {
    this.#rpcUrls.set(`0x${chainId.toString(16)}`, rpcUrl);
  }

  /** Must be called before the page is opened. `isInFrames` false: like most wallets, it reaches no frame. */
  async install(page: Page, name: string, { isInFrames = true } = {}): Promise<void> {
    await page.exposeFunction("testWalletRequest", (method: string, params: readonly unknown[] = []) =>
      this.#handle(method, params).then(
        (result) => ({ result }),
        (error: unknown) => ({
          error: error instanceof WalletError ? { code: error.code, message: error.message } : { code: -32_603 },
        }),
      ),
    );
    await page.addInitScript(`(() => {
      if (${!isInFrames} && window.parent !== window) return;
      const provider = { request: async ({ method, params }) => {
        const { result, error } = await window.testWalletRequest(method, params);
        if (error) throw error;
        return result;
      } };
      const icon = "data:image/svg+xml,<svg xmlns='http://www.w3.org/2000/svg'/>";
      const detail = { info: { uuid: "test-wallet", name: ${JSON.stringify(name)}, icon, rdns: "test" }, provider };
      const announce = () => dispatchEvent(new CustomEvent("eip6963:announceProvider", { detail }));
      addEventListener("eip6963:requestProvider", announce);
      announce();
    })()`);
  }

  async #handle(method: string, params: readonly unknown[]): Promise<unknown> {
    this.calls.push({ method, params });
    this.#refuseIfAsked(method);
    const account = privateKeyToAccount(this.#privateKey);
    switch (method) {
      case "eth_requestAccounts":
        return [account.address];
      case "eth_chainId":
        return this.#chainId;
      case "wallet_switchEthereumChain": {
        const [{ chainId }] = params as [AddedChain];
        if (!this.#rpcUrls.has(chainId)) throw new WalletError(4902, "unknown chain");
        this.#chainId = chainId;
        return null;
      }
      case "wallet_addEthereumChain": {
        const [{ chainId, rpcUrls }] = params as [AddedChain];
        this.#rpcUrls.set(chainId, rpcUrls[0] ?? "");
        return null;
      }
      case "eth_estimateGas": {
        const [call] = params as [TransferCall];
        return this.#forward(method, [this.#withEstimated(call)]);
      }
      case "eth_sendTransaction": {
        const [{ to, data, gas }] = params as [TransferCall];
        const client = createWalletClient({ account, transport: http(this.#rpcUrls.get(this.#chainId) ?? "") });
        // Without a limit from the page it takes its own estimate, as it is.
        const call = { from: account.address, ...this.#withEstimated({ to, data }) };
        const limit = gas ?? ((await this.#forward("eth_estimateGas", [call])) as Hex);
        return client.sendTransaction({ chain: null, to, data, gas: BigInt(limit) });
      }
      default:
        return this.#forward(method, params);
    }
  }

  #withEstimated(call: TransferCall): TransferCall {
    if (this.estimatesAs === undefined) return call;
    const { inbox, like } = this.estimatesAs;
    const isToInbox = call.data.includes(inbox.slice(2).toLowerCase());
    return isToInbox ? { ...call, data: withRecipient(call.data, like) } : call;
  }

  #refuseIfAsked(method: string): void {
    if (this.refusesNext !== method) return;
    this.refusesNext = undefined;
    throw new WalletError(4001, "the person refused");
  }

  async #forward(method: string, params: readonly unknown[]): Promise<unknown> {
    const client = createWalletClient({ transport: http(this.#rpcUrls.get(this.#chainId) ?? "") });
    return client.request({ method, params } as never);
  }
}

function withRecipient(transfer: Hex, to: string): Hex {
  return `0x${transfer.slice(2, 34)}${to.slice(2).toLowerCase()}${transfer.slice(74)}`;
}

class WalletError extends Error {
  readonly code: number;
  constructor(code: number, message: string) {
    super(message);
    this.code = code;
  }
}
