import type { Caip2 } from "../../../kernel/caip.ts";
import type { EvmProviders } from "../evmProviders.ts";
import type { OutgoingAttempt, OutgoingTransaction } from "./outgoingStore.ts";
import type { EvmNode, EvmReceipt } from "../node.ts";
import type { GasAccount } from "./gasAccount.ts";

/** What the sender of one EVM chain works with. */
export type SenderContext = {
  readonly caip2: Caip2;
  readonly providers: EvmProviders;
  readonly gasAccount: GasAccount;
  /** By account, the transaction that its chain waits for and no node takes. A restart begins the count anew. */
  readonly rejectedTransactions: Map<string, RejectedTransaction>;
};

export type RejectedTransaction = { chainTx: string; submits: number; since: Date };

export function createSenderContext(providers: EvmProviders, gasAccount: GasAccount): SenderContext {
  return { caip2: providers.caip2, providers, gasAccount, rejectedTransactions: new Map() };
}

/** A transaction that is not closed, with its attempts, newest first. */
export type OpenOutgoing = {
  transaction: OutgoingTransaction;
  attempts: OutgoingAttempt[];
  /** Whether its nonce is the one that the chain waits for: nothing behind it can be mined before it. */
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
