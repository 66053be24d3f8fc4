import type { Ask } from "../src/look.ts";

/** A wallet in the browser, as EIP-1193 describes it. */
export type Provider = {
  request(call: { method: string; params?: readonly unknown[] }): Promise<unknown>;
  on?(event: string, listener: () => void): void;
};

export type BrowserWallet = { readonly name: string; readonly provider: Provider };

/**
 * Tells of each wallet that announces itself (EIP-6963), at once or later; `window.ethereum` stands in while none has.
 */
export function watchWallets(onChange: (wallets: readonly BrowserWallet[]) => void): void {
  const announced = new Map<string, BrowserWallet>();
  const tell = () => onChange(announced.size > 0 ? [...announced.values()] : oldWallets());
  window.addEventListener("eip6963:announceProvider", (event) => {
    const { info, provider } = (event as CustomEvent<{ info: { uuid: string; name: string }; provider: Provider }>)
      .detail;
    announced.set(info.uuid, { name: info.name, provider });
    tell();
  });
  window.dispatchEvent(new Event("eip6963:requestProvider"));
  tell();
}

function oldWallets(): BrowserWallet[] {
  const provider = (window as { ethereum?: Provider }).ethereum;
  return provider === undefined ? [] : [{ name: "Browser wallet", provider }];
}

export function askThrough(provider: Provider): Ask {
  return (method, params) => provider.request({ method, params });
}

/** What a wallet says when it refuses is an object of its own kind as often as an Error. */
export function reasonOf(error: unknown): string {
  if (typeof error === "object" && error !== null && "message" in error && typeof error.message === "string") {
    const inner = "data" in error && typeof error.data === "object" && error.data !== null ? error.data : {};
    const reason = "message" in inner && typeof inner.message === "string" ? ` (${inner.message})` : "";
    return `${error.message}${reason}`;
  }
  return String(error);
}
