// Wallets inject nothing into frames. The page passes on the ones that announce themselves (EIP-6963), with these
// methods alone.

type Provider = { request(call: { method: string; params: unknown }): Promise<unknown> };
type Announcement = {
  readonly info?: { readonly uuid?: string; name?: string; icon?: string };
  readonly provider: Provider;
};

export type WalletCall = { call: number; wallet: string; method: string; params: Transaction[] };
/** As the frame names it. A field may be missing or anything else: then no wallet accepts it. */
type Field = string | undefined;
type Transaction = { from?: Field; to?: Field; data?: Field; chainId?: Field; gas?: unknown };
export type Post = (type: string, content: object) => void;

/** One transfer of a token: its selector, recipient and amount. */
const TRANSFER = /^0xa9059cbb0{24}([0-9a-f]{40})[0-9a-f]{64}$/;

export type WalletRelay = { handle(call: WalletCall): Promise<void>; stop(): void };

/**
 * Whether the frame may ask a wallet to send a token of a chain to an address, which is in lower case and without 0x.
 */
export type MayReceive = (address: string, token: string | undefined, chainId: string | undefined) => boolean;

export function relayWallets(post: Post, mayReceive: MayReceive): WalletRelay {
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
    async handle({ call, wallet, method, params: [{ from, to, data, chainId } = {}, ...others] }) {
      try {
        const recipient = TRANSFER.exec(String(data))?.[1];
        // Made anew: a frame that was taken over could add a value, or anything else that a wallet reads.
        const transfer: Transaction = { from, to, data, chainId };
        const isTransfer = method === "eth_sendTransaction";
        const params = isTransfer
          ? recipient && mayReceive(recipient, to, chainId) && [transfer]
          : method === "wallet_switchEthereumChain"
            ? [{ chainId }]
            : method === "eth_requestAccounts" && [];
        const provider = wallets.get(wallet);
        if (!provider || !params || others[0]) throw Error("not relayed");
        // The wallet's estimate for an address that holds nothing, made of the inbox's, because a sweep may empty the inbox
        // meanwhile. Without an estimate the wallet decides.
        if (isTransfer)
          transfer.gas = await provider
            .request({
              method: "eth_estimateGas",
              params: [{ ...transfer, data: data?.replace(recipient as string, `${recipient?.slice(4)}dead`) }],
            })
            .catch(() => {});
        post("result", { call, result: await provider.request({ method, params }) });
      } catch (error) {
        const { code, message } = error as { code?: unknown; message?: unknown };
        post("result", { call, error: { code, message } });
      }
    },
    stop: () => removeEventListener("eip6963:announceProvider", announce),
  };
}
