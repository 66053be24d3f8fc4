import type { CheckoutOrigin } from "../src/checkoutState.ts";
import { REQUEST_WAITS, USER_REFUSED } from "../src/payerSide.ts";
import type { BrowserWallet } from "./browserWallets.ts";
import type { Eip1193Provider } from "./eip1193.ts";
import { readCode, type TransferCall, type WalletReply } from "./walletReply.ts";

/** Added to the wallet's own estimate, because a token's transfer can cost more by the time it runs. */
const GAS_HEADROOM_PERCENT = 30n;
/** The codes of EIP-3085 and of EIP-1193: wallets use either for a chain that they do not know. */
const CHAIN_IS_UNKNOWN: readonly unknown[] = [4902, 4901];
const TRANSFER = "0xa9059cbb";
const BALANCE_OF = "0x70a08231";

/** A relayed wallet does not know the network, and only a page on top may add it. */
export const UNKNOWN_CHAIN = "unknownChain";

type Transfer = { readonly origin: CheckoutOrigin; readonly to: string; readonly units: bigint };

/**
 * Asks the wallet for one plain token transfer, on the right network, and for nothing else: no approval, no signature,
 * no other contract. `hand` is called just before the wallet gets the transfer; if it returns false, another attempt
 * has replaced this one.
 */
export async function payWithWallet(
  { provider, isRelayed }: Pick<BrowserWallet, "provider" | "isRelayed">,
  transfer: Transfer,
  hand: () => boolean,
): Promise<WalletReply> {
  const { origin, units } = transfer;
  const request = (method: string, ...params: readonly unknown[]) => provider.request({ method, params });
  try {
    const [from] = (await request("eth_requestAccounts")) as readonly string[];
    if (from === undefined) return {};
    // The transaction names its chain, so that a wallet on another one refuses it. It names no value: some wallets
    // encode "0x0" wrongly.
    const call = { from, ...transferCall(transfer), chainId: toChainId(origin) };
    if (isRelayed) await request("wallet_switchEthereumChain", { chainId: call.chainId });
    else {
      await switchChain(provider, origin);
      const balance = await request("eth_call", { to: call.to, data: BALANCE_OF + toWord(from) }, "latest");
      if (BigInt(String(balance)) < units) return { reason: "poor" };
      // A sweep may empty the inbox meanwhile, and what the first tokens of an address cost is the chain's rule: an
      // address made of the inbox's holds none.
      const empty = { ...call, ...transferCall({ ...transfer, to: withOtherEnd(transfer.to) }) };
      const estimates = [await request("eth_estimateGas", call), await request("eth_estimateGas", empty)];
      const [less = 0n, more = 0n] = estimates.map((gas) => BigInt(String(gas)));
      const gas = ((less > more ? less : more) * (100n + GAS_HEADROOM_PERCENT)) / 100n;
      Object.assign(call, { gas: `0x${gas.toString(16)}` });
    }
    if (!hand()) return {};
    return { hash: await request("eth_sendTransaction", call) };
  } catch (error) {
    return { reason: isRelayed && isUnknownChain(error) ? UNKNOWN_CHAIN : readCode(error) };
  }
}

/** The call of the token that transfers: it also tells the transfer from any other that a wallet names. */
export function transferCall({ origin, to, units }: Transfer): TransferCall {
  return { to: origin.tokenAddress, data: TRANSFER + toWord(to) + units.toString(16).padStart(64, "0") };
}

function toChainId({ chainId }: Pick<CheckoutOrigin, "chainId">): string {
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
    // Wallets have many errors for a chain that they do not know, some without a code. They are asked for no money yet.
    if ([USER_REFUSED, REQUEST_WAITS].includes(Number(readCode(error)))) throw error;
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

function isUnknownChain(error: unknown): boolean {
  return CHAIN_IS_UNKNOWN.includes(readCode(error));
}

function toWord(address: string): string {
  return address.replace(/^0x/, "").toLowerCase().padStart(64, "0");
}

/** Another address, made of the digits of this one. */
function withOtherEnd(address: string): string {
  return `${toWord(address).slice(-36)}dead`;
}
