import type { Hex } from "@tributary/inbox/terms";
import type { ContractCall } from "@tributary/recover/contractCalls";
import { findGasLimit } from "@tributary/recover/findGasLimit";
import { defaultFeeCeiling, GasPriceTooHigh, quoteFees, type Fees } from "@tributary/recover/gasPrice";
import type { RpcRequester } from "@tributary/recover/rpc/rpcRequester";
import { createPublicClient, createWalletClient, custom, defineChain } from "viem";
import { privateKeyToAccount } from "viem/accounts";
import { CommandError } from "../../operator/errors.ts";
import { withChainError } from "../../operator/client/withChainError.ts";

/** The chain refuses one call. Others can succeed. */
export class RefusedCall extends CommandError {}

/** Signs and sends contract calls with one private key. */
export type Wallet = {
  /** Lower case. */
  address: Hex;
  /**
   * Resolves with the hash once the transaction is mined. Throws RefusedCall when the chain refuses the call, and
   * CommandError with the reason for every other failure.
   */
  send(call: ContractCall, onSent: (txHash: Hex) => void): Promise<Hex>;
};

export type WalletOptions = {
  key: Hex;
  /** The highest price of gas in wei; absent: the chain's default. */
  feeCeiling: bigint | undefined;
};

type RpcRequest = { method: string; params?: readonly unknown[] };

const RECEIPT_MS_MAX = 300_000;
const POLL_MS = 500;

export async function createWallet(request: RpcRequester, { key, feeCeiling }: WalletOptions): Promise<Wallet> {
  const transport = custom({ request: (call: RpcRequest) => request(call.method, call.params ?? []) });
  const reader = createPublicClient({ transport, pollingInterval: POLL_MS, cacheTime: 0 });
  const chainId = await withChainError(reader.getChainId(), "The chain does not answer");
  const nativeCurrency = { name: "coin", symbol: "coin", decimals: 18 };
  const chain = defineChain({ id: chainId, name: String(chainId), nativeCurrency, rpcUrls: { default: { http: [] } } });
  const account = privateKeyToAccount(key);
  const wallet = createWalletClient({ account, chain, transport });
  return {
    address: account.address.toLowerCase() as Hex,
    async send(call, onSent) {
      const fees = await quoteWithin(request, feeCeiling ?? defaultFeeCeiling(BigInt(chainId)));
      const pendingGas = withChainError(findGasLimit(request, account.address, call), "The hub rejects the call");
      const gas = await pendingGas.catch((error: unknown) => {
        throw error instanceof CommandError ? new RefusedCall(error.message) : error;
      });
      const pendingHash = wallet.sendTransaction({ ...call, gas, ...fees });
      const hash = await withChainError(pendingHash, "The chain rejects the transaction");
      onSent(hash);
      const pendingReceipt = reader.waitForTransactionReceipt({ hash, timeout: RECEIPT_MS_MAX });
      const receipt = await withChainError(
        pendingReceipt,
        `${hash} was sent but is not mined yet; running this command again is safe`,
      );
      if (receipt.status === "reverted") throw new RefusedCall(`${hash} reverted and moved nothing.`);
      return hash;
    },
  };
}

async function quoteWithin(request: RpcRequester, ceiling: bigint): Promise<Fees> {
  try {
    return await quoteFees(request, ceiling);
  } catch (error) {
    if (!(error instanceof GasPriceTooHigh)) throw error;
    throw new CommandError(`${error.message} Wait, or raise the ceiling with --max-fee-gwei.`);
  }
}
