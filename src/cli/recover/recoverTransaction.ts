import { findKnownChain } from "../../config/knownChains.ts";
import type { Hex } from "@tributary/inbox/terms";
import type { RpcRequester } from "@tributary/recover/rpc/rpcRequester";
import type { Wallet } from "./wallet.ts";

/** One sent transaction. `moved` is what it measurably moved. */
export type RecoverTransaction = {
  what: "deploy" | "settle" | "rescue" | "bridge" | "receive";
  chainId: string;
  txHash: Hex;
  moved: { inboxAddress: Hex; token: Hex; units: bigint; to: Hex }[];
};

export type RecoverContext = { request: RpcRequester; wallet: Wallet; note: (line: string) => void };

/** 0 is the chain of a payout on Solana. */
export function formatChain(chainId: bigint): string {
  if (chainId === 0n) return "Solana";
  const known = findKnownChain(Number(chainId));
  return known === undefined ? `Chain ${chainId}` : `${known.name} (${chainId})`;
}
