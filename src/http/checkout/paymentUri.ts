import { payoutChain } from "../../intent/payoutAsset.ts";
import type { IntentRow } from "../../intent/store.ts";
import { displayAddress } from "../../kernel/caip.ts";

/**
 * Builds the URI of the page's QR code. On EVM chains it is an EIP-681 call of the token's `transfer` to the inbox, with the amount in the
 * token's units if one is known. Elsewhere it is the address alone. It never requests more than a transfer.
 */
export function buildPaymentUri(intent: IntentRow, amountUnits: bigint | undefined): string {
  const chain = payoutChain(intent);
  const address = displayAddress(chain, intent.inbox_address);
  if (intent.payout_namespace !== "eip155") return address;
  const token = displayAddress(chain, intent.payout_token);
  const amount = amountUnits === undefined || amountUnits === 0n ? "" : `&uint256=${amountUnits}`;
  return `ethereum:${token}@${intent.payout_chain_reference}/transfer?address=${address}${amount}`;
}
