import { caip2, type Caip2 } from "../kernel/caip.ts";
import type { IntentRow } from "./store.ts";

type Payout = Pick<IntentRow, "payout_namespace" | "payout_chain_reference" | "payout_token">;

export function payoutChain(intent: Omit<Payout, "payout_token">): Caip2 {
  return caip2(intent.payout_namespace, intent.payout_chain_reference);
}

/** Whether the asset is the intent's payout token on its payout chain, so that no bridge is needed. */
export function isPayoutAsset(intent: Payout, asset: { chain: Caip2; token: string }): boolean {
  return asset.chain === payoutChain(intent) && asset.token === intent.payout_token;
}
