import { caip2, displayAddress, type Namespace } from "../kernel/caip.ts";
import { findOtherDefault } from "./namespaceDefault.ts";
import type { AccountRow } from "./store.ts";

type OtherPayout = { chain: string; wallet: string };

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
  /** The default destination on an EVM chain beside `payout`, of the keys that are bound to it; null without one. */
  evmPayout: OtherPayout | null;
  /** The same on Solana. */
  solanaPayout: OtherPayout | null;
  /** CAIP-19 ids of the origins that its intents may use; null for all. */
  origins: string[] | null;
  /** Its rate limits are so many times those of every account. */
  limitMultiple: number;
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
    evmPayout: toOtherPayout(row, "eip155"),
    solanaPayout: toOtherPayout(row, "solana"),
    origins: row.origins,
    limitMultiple: row.limit_multiple,
  };
}

/** The account's default in a namespace where its own is not. */
export function toOtherPayout(row: AccountRow, namespace: Namespace): OtherPayout | null {
  const found = findOtherDefault(row, namespace);
  if (found === undefined) return null;
  const chain = caip2(namespace, found.chainReference);
  return { chain, wallet: displayAddress(chain, found.wallet) };
}
