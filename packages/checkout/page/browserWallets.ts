import type { ShownWallet } from "../src/situation.ts";

/** A wallet in the browser, with the EIP-1193 interface. */
export type Eip1193Provider = {
  request(call: { method: string; params?: readonly unknown[] }): Promise<unknown>;
};

export type BrowserWallet = ShownWallet & { readonly provider: Eip1193Provider };

const LEGACY_WAIT_MS = 400;

/** Calls `onChange` for each wallet that announces itself (EIP-6963), now or later. Without any, `window.ethereum` is the wallet. */
export function watchWallets(onChange: (wallets: readonly BrowserWallet[]) => void): void {
  const announced = new Map<string, BrowserWallet>();
  addEventListener("eip6963:announceProvider", (event) => {
    const wallet = readAnnouncement((event as CustomEvent<unknown>).detail);
    if (wallet === undefined) return;
    announced.set(wallet.id, wallet);
    onChange([...announced.values()]);
  });
  dispatchEvent(new Event("eip6963:requestProvider"));
  setTimeout(() => {
    const provider = (window as { ethereum?: Eip1193Provider }).ethereum;
    if (announced.size > 0 || typeof provider?.request !== "function") return;
    onChange([{ id: "window.ethereum", name: "Web3 Wallet", icon: null, provider }]);
  }, LEGACY_WAIT_MS);
}

/** Anything can announce itself: only complete announcements count, and only images become icons. */
function readAnnouncement(detail: unknown): BrowserWallet | undefined {
  const { info, provider } = (detail ?? {}) as { info?: Record<string, unknown>; provider?: Eip1193Provider };
  const { uuid, name, icon } = info ?? {};
  if (typeof uuid !== "string" || typeof name !== "string" || typeof provider?.request !== "function") return undefined;
  const isImage = typeof icon === "string" && /^data:image\/(?:png|jpeg|webp|gif|svg\+xml)[;,]/.test(icon);
  return { id: uuid, name: name.slice(0, 40), icon: isImage ? icon : null, provider };
}
