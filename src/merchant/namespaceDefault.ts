import type { Namespace } from "../kernel/caip.ts";
import type { AccountRow } from "./store.ts";

// An account has at most one default destination a namespace: its own, and one in the other namespace for the keys that
// are bound to it.

export type NamespaceDefault = { chainReference: string; wallet: string };

/** The default in the namespace, whether it is the account's own or the other. */
export function findNamespaceDefault(account: AccountRow, namespace: Namespace): NamespaceDefault | undefined {
  if (account.payout_namespace !== namespace) return findOtherDefault(account, namespace);
  return toDefault(account.payout_chain_reference, account.payout_wallet);
}

/** The default in the namespace beside the account's own. */
export function findOtherDefault(account: AccountRow, namespace: Namespace): NamespaceDefault | undefined {
  return namespace === "solana"
    ? toDefault(account.solana_default_reference, account.solana_default_wallet)
    : toDefault(account.evm_default_reference, account.evm_default_wallet);
}

function toDefault(chainReference: string | null, wallet: string | null): NamespaceDefault | undefined {
  return chainReference === null || wallet === null ? undefined : { chainReference, wallet };
}
