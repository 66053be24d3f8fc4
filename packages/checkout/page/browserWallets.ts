import type { Eip1193Provider } from "./eip1193.ts";
import type { ShownWallet } from "../src/situation.ts";
import type { ParentPage } from "./parentPage.ts";

/** `isRelayed`: the provider answers the relayed calls alone, because the wallet is one of the parent page. */
export type BrowserWallet = ShownWallet & { readonly provider: Eip1193Provider; readonly isRelayed: boolean };

const LEGACY_WAIT_MS = 400;

/**
 * Calls `onChange` for each wallet that announces itself (EIP-6963), here or in the parent page, now or later. A wallet
 * that does both is the one here, which answers every call. Without any, `window.ethereum` is the wallet.
 */
export function watchWallets(
  parent: ParentPage | undefined,
  onChange: (wallets: readonly BrowserWallet[]) => void,
): void {
  const announced = new Map<string, BrowserWallet>();
  const add = (wallet: BrowserWallet | undefined) => {
    if (wallet === undefined) return;
    announced.set(wallet.id, wallet);
    const isHere = (name: string) => [...announced.values()].some((each) => !each.isRelayed && each.name === name);
    onChange([...announced.values()].filter(({ isRelayed, name }) => !isRelayed || !isHere(name)));
  };
  addEventListener("eip6963:announceProvider", (event) =>
    add(readAnnouncement((event as CustomEvent<unknown>).detail, false)),
  );
  if (parent !== undefined) parent.onWallet = (info, provider) => add(readAnnouncement({ info, provider }, true));
  dispatchEvent(new Event("eip6963:requestProvider"));
  setTimeout(() => {
    const provider = (window as { ethereum?: Eip1193Provider }).ethereum;
    if (announced.size > 0 || typeof provider?.request !== "function") return;
    add({ id: "window.ethereum", namespace: "eip155", name: "Web3 Wallet", icon: null, provider, isRelayed: false });
  }, LEGACY_WAIT_MS);
}

/** Anything can announce itself: only complete announcements count, and only images become icons. */
function readAnnouncement(detail: unknown, isRelayed: boolean): BrowserWallet | undefined {
  const { info, provider } = (detail ?? {}) as { info?: Record<string, unknown>; provider?: Eip1193Provider };
  const { uuid, name, icon } = info ?? {};
  if (typeof uuid !== "string" || typeof name !== "string" || typeof provider?.request !== "function") return undefined;
  return { ...shownWallet("eip155", { id: uuid, name, icon }), provider, isRelayed };
}

export function shownWallet(
  namespace: ShownWallet["namespace"],
  { id, name, icon }: { readonly id: string; readonly name: string; readonly icon: unknown },
): ShownWallet {
  const isImage = typeof icon === "string" && /^data:image\/(?:png|jpeg|webp|gif|svg\+xml)[;,]/.test(icon);
  return { id, namespace, name: name.slice(0, 40), icon: isImage ? icon : null };
}
