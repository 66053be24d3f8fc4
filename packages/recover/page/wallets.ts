import { findHubRefusal } from "../src/hubRefusals.ts";
import type { RpcRequester } from "../src/rpc/rpcRequester.ts";
import { createPatientRequester } from "../src/rpc/patientRequester.ts";

/** A wallet in the browser, with the EIP-1193 interface. */
export type Eip1193Provider = {
  request(call: { method: string; params?: readonly unknown[] }): Promise<unknown>;
  on?(event: string, listener: () => void): void;
};

export type BrowserWallet = { readonly name: string; readonly provider: Eip1193Provider };

/**
 * Calls `onChange` for each wallet that announces itself (EIP-6963), now or later. Until then `window.ethereum` is the
 * wallet.
 */
export function watchWallets(onChange: (wallets: readonly BrowserWallet[]) => void): void {
  const announced = new Map<string, BrowserWallet>();
  const notify = () => onChange(announced.size > 0 ? [...announced.values()] : legacyWallets());
  window.addEventListener("eip6963:announceProvider", (event) => {
    const { info, provider } = (
      event as CustomEvent<{ info: { uuid: string; name: string }; provider: Eip1193Provider }>
    ).detail;
    announced.set(info.uuid, { name: info.name, provider });
    notify();
  });
  window.dispatchEvent(new Event("eip6963:requestProvider"));
  notify();
}

function legacyWallets(): BrowserWallet[] {
  const provider = (window as { ethereum?: Eip1193Provider }).ethereum;
  return provider === undefined ? [] : [{ name: "Browser wallet", provider }];
}

/** `onPause`: the wallet's node refuses requests for now. */
export function createRpcRequester(provider: Eip1193Provider, onPause: (ms: number) => void): RpcRequester {
  return createPatientRequester((method, params) => provider.request({ method, params }), { sleep, onPause });
}

export function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

/** Formats a thrown value. Wallets often throw plain objects instead of an Error. */
export function describeError(error: unknown): string {
  const refusal = findHubRefusal(error);
  if (refusal !== undefined) return `The contract refuses it: ${refusal}.`;
  if (typeof error === "object" && error !== null && "message" in error && typeof error.message === "string") {
    const inner = "data" in error && typeof error.data === "object" && error.data !== null ? error.data : {};
    const reason = "message" in inner && typeof inner.message === "string" ? ` (${inner.message})` : "";
    return `${error.message}${reason}`;
  }
  return String(error);
}
