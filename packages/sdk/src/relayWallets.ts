// Wallets inject nothing into frames. The page passes on the ones that announce themselves (EIP-6963), with these methods alone.

type Provider = { request(call: { method: string; params: unknown }): Promise<unknown> };
type Announcement = {
  readonly info?: { readonly uuid?: string; name?: string; icon?: string };
  readonly provider: Provider;
};

export type WalletCall = { call: number; wallet: string; method: string; params: [Record<string, unknown>?] };
export type Post = (type: string, content: object) => void;

const METHODS = ["eth_requestAccounts", "wallet_switchEthereumChain"];
const SEND = "eth_sendTransaction";
/** One transfer of a token: its selector, recipient and amount. */
const TRANSFER = /^0xa9059cbb0{24}([0-9a-f]{40})[0-9a-f]{64}$/;

export type WalletRelay = { handle(call: WalletCall): Promise<void>; stop(): void };

/** `mayReceive` decides to which address, in lower case, the frame may ask a wallet to send. */
export function relayWallets(post: Post, mayReceive: (address: string) => boolean): WalletRelay {
  const wallets = new Map<string, Provider>();
  const announce = (event: Event) => {
    const { detail } = event as CustomEvent<Announcement>;
    const { uuid, name, icon } = detail?.info ?? {};
    if (!uuid) return;
    wallets.set(uuid, detail.provider);
    post("announce", { uuid, name, icon });
  };
  addEventListener("eip6963:announceProvider", announce);
  dispatchEvent(new Event("eip6963:requestProvider"));
  return {
    async handle({ call, wallet, method, params }) {
      const [first] = params;
      const to = TRANSFER.exec(String(first?.["data"]))?.[1];
      const isAllowed = method === SEND ? to !== undefined && mayReceive(to) : METHODS.includes(method);
      const provider = wallets.get(wallet);
      try {
        if (!isAllowed || provider === undefined) throw new Error("not relayed");
        post("result", { call, result: await provider.request({ method, params }) });
      } catch (error) {
        const { code, message } = (error ?? {}) as { code?: unknown; message?: unknown };
        post("result", { call, error: { code, message } });
      }
    },
    stop: () => removeEventListener("eip6963:announceProvider", announce),
  };
}
