import type { Hex } from "@tributary/inbox/terms";
import { MAX_FEE_PER_GAS_DEFAULT } from "../../../config/knownChains.ts";
import type { Caip2 } from "../../../kernel/caip.ts";
import type { EvmProviders } from "../evmProviders.ts";
import type { OutgoingAttempt, OutgoingTransaction } from "../../outgoing/outgoingStore.ts";
import type { EvmNode, EvmReceipt } from "../node.ts";
import type { GasAccount } from "./gasAccount.ts";

/** Dependencies of the sender of one EVM chain. */
export type SenderContext = {
  readonly caip2: Caip2;
  readonly providers: EvmProviders;
  readonly gasAccount: GasAccount;
  /** By account, the rejected transaction with the chain's next nonce. A restart resets the count. */
  readonly rejectedTransactions: Map<string, RejectedTransaction>;
  readonly feeCeiling: FeeCeiling;
  /** The contract that receives a bridge's messages; undefined where no bridge is used. */
  readonly transmitter: Hex | undefined;
};

/** In wei per gas. `isExceeded` as of the last quote, so that each change is logged once. */
export type FeeCeiling = { readonly maxFeePerGas: bigint; isExceeded: boolean };

export type RejectedTransaction = { chainTx: string; submits: number; since: Date };

/** `maxFeePerGas`: the fee ceiling in wei per gas. */
export function createSenderContext(
  providers: EvmProviders,
  gasAccount: GasAccount,
  { maxFeePerGas = MAX_FEE_PER_GAS_DEFAULT, transmitter }: { maxFeePerGas?: bigint; transmitter?: Hex } = {},
): SenderContext {
  return {
    caip2: providers.caip2,
    providers,
    gasAccount,
    rejectedTransactions: new Map(),
    feeCeiling: { maxFeePerGas, isExceeded: false },
    transmitter,
  };
}

/** An open transaction with its attempts, newest first. */
export type OpenOutgoing = {
  transaction: OutgoingTransaction;
  attempts: OutgoingAttempt[];
  /** Whether its nonce is the chain's next one: later nonces wait for it. */
  isNext: boolean;
};

export async function findReceipt(
  node: EvmNode,
  attempts: readonly OutgoingAttempt[],
): Promise<EvmReceipt | undefined> {
  for (const attempt of attempts) {
    const receipt = await node.receipt(attempt.chain_tx);
    if (receipt) return receipt;
  }
  return undefined;
}
