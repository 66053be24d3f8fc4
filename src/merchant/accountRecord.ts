import { caip2, displayAddress } from "../kernel/caip.ts";
import type { AccountRow } from "./store.ts";

/** An account as its events and its owner see it. */
export type AccountRecord = {
  object: "account";
  accountId: string;
  name: string;
  /** The default destination of its intents; null without one. */
  payout: { chain: string; wallet: string | null; currency: string | null } | null;
  feeBps: number;
  underpayToleranceBps: number;
  recovery: string | null;
  solanaRecovery: string | null;
  /** The default destination of keys that are bound to Solana; null without one. */
  solanaPayout: { chain: string; wallet: string } | null;
  /** CAIP-19 ids of the origins that its intents may use; null for all. */
  origins: string[] | null;
};

export function toAccountRecord(row: AccountRow): AccountRecord {
  const { payout_namespace: namespace, payout_chain_reference: reference, payout_wallet: wallet } = row;
  const chain = namespace === null ? null : caip2(namespace, reference ?? "");
  const payoutWallet = chain === null || wallet === null ? null : displayAddress(chain, wallet);
  return {
    object: "account",
    accountId: row.id,
    name: row.name,
    payout: chain === null ? null : { chain, wallet: payoutWallet, currency: row.currency },
    feeBps: row.fee_bps,
    underpayToleranceBps: row.underpay_tolerance_bps,
    recovery: row.recovery,
    solanaRecovery: row.solana_recovery,
    solanaPayout:
      row.solana_default_reference === null || row.solana_default_wallet === null
        ? null
        : { chain: caip2("solana", row.solana_default_reference), wallet: row.solana_default_wallet },
    origins: row.origins,
  };
}
