import type { CheckoutOrigin } from "../src/checkoutState.ts";
import type { BrowserWallet } from "./browserWallets.ts";
import type { Eip1193Provider } from "./eip1193.ts";

/** Added to the wallet's own estimate, because a token's transfer can cost more by the time it runs. */
const GAS_HEADROOM_PERCENT = 30n;
const CHAIN_IS_UNKNOWN = 4902;
const TRANSFER = "0xa9059cbb";
const BALANCE_OF = "0x70a08231";

/** unknownChain: a relayed wallet does not know the network, and only a page on top may add it. */
export type WalletOutcome = "sent" | "refused" | "poor" | "unknownChain";

type Transfer = { readonly origin: CheckoutOrigin; readonly to: string; readonly units: bigint };

/**
 * Asks the wallet for one plain token transfer, on the right network, and for nothing else: no approval, no signature, no other contract.
 */
export async function payWithWallet(
  { provider, isRelayed }: Pick<BrowserWallet, "provider" | "isRelayed">,
  transfer: Transfer,
): Promise<WalletOutcome> {
  const { origin, units } = transfer;
  const request = (method: string, ...params: readonly unknown[]) => provider.request({ method, params });
  try {
    const [from] = (await request("eth_requestAccounts")) as readonly string[];
    if (from === undefined) return "refused";
    if (isRelayed) return await sendByRelay(provider, from, transfer);
    await switchChain(provider, origin);
    const balance = await request("eth_call", { to: origin.tokenAddress, data: BALANCE_OF + toWord(from) }, "latest");
    if (BigInt(String(balance)) < units) return "poor";
    const call = transferCall(from, transfer);
    const estimate = BigInt(String(await request("eth_estimateGas", call)));
    const gas = `0x${((estimate * (100n + GAS_HEADROOM_PERCENT)) / 100n).toString(16)}`;
    await request("eth_sendTransaction", { ...call, gas });
    return "sent";
  } catch {
    return "refused";
  }
}

/** Only these calls are relayed. The transaction names its chain, so that a wallet on another one refuses it. */
async function sendByRelay(provider: Eip1193Provider, from: string, transfer: Transfer): Promise<WalletOutcome> {
  const chainId = toChainId(transfer.origin);
  try {
    await provider.request({ method: "wallet_switchEthereumChain", params: [{ chainId }] });
  } catch (error) {
    if (isUnknownChain(error)) return "unknownChain";
    throw error;
  }
  await provider.request({ method: "eth_sendTransaction", params: [{ ...transferCall(from, transfer), chainId }] });
  return "sent";
}

function transferCall(from: string, { origin, to, units }: Transfer) {
  const data = TRANSFER + toWord(to) + units.toString(16).padStart(64, "0");
  return { from, to: origin.tokenAddress, value: "0x0", data };
}

function toChainId({ chainId }: CheckoutOrigin): string {
  return `0x${chainId.toString(16)}`;
}

/** Throws when the wallet stays on another chain: a transfer there would not reach this payment. */
async function switchChain(provider: Eip1193Provider, origin: CheckoutOrigin): Promise<void> {
  const chainId = toChainId(origin);
  const isThere = async () => BigInt(String(await provider.request({ method: "eth_chainId" }))) === BigInt(chainId);
  if (await isThere()) return;
  const switchIt = () => provider.request({ method: "wallet_switchEthereumChain", params: [{ chainId }] });
  try {
    await switchIt();
  } catch (error) {
    if (!isUnknownChain(error)) throw error;
    await provider.request({ method: "wallet_addEthereumChain", params: [describeChain(chainId, origin)] });
    if (!(await isThere())) await switchIt();
  }
  if (!(await isThere())) throw new Error("the wallet stayed on another chain");
}

function describeChain(chainId: string, origin: CheckoutOrigin) {
  return {
    chainId,
    chainName: origin.networkName,
    rpcUrls: [origin.publicRpcUrl],
    nativeCurrency: origin.native,
    ...(origin.explorerUrl === null ? {} : { blockExplorerUrls: [origin.explorerUrl] }),
  };
}

/** Some wallets put the code into the data of another error. */
function isUnknownChain(error: unknown): boolean {
  const { code, data } = (error ?? {}) as { code?: unknown; data?: { originalError?: { code?: unknown } } };
  return code === CHAIN_IS_UNKNOWN || data?.originalError?.code === CHAIN_IS_UNKNOWN;
}

function toWord(address: string): string {
  return address.replace(/^0x/, "").toLowerCase().padStart(64, "0");
}
