import { payoutChain } from "../../intent/payoutAsset.ts";
import type { IntentRow } from "../../intent/store.ts";
import { displayAddress } from "../../kernel/caip.ts";

/**
 * What a wallet reads from the code on the page: on EVM chains EIP-681, the call `transfer` of the token with the inbox and, where an
 * amount is known, the amount in the token's units; elsewhere the address alone. A wallet is never asked for more than a transfer.
 */
export function buildPaymentUri(intent: IntentRow, amountUnits: bigint | undefined): string {
  const chain = payoutChain(intent);
  const address = displayAddress(chain, intent.inbox_address);
  if (intent.payout_namespace !== "eip155") return address;
  const token = displayAddress(chain, intent.payout_token);
  const amount = amountUnits === undefined || amountUnits === 0n ? "" : `&uint256=${amountUnits}`;
  return `ethereum:${token}@${intent.payout_chain_reference}/transfer?address=${address}${amount}`;
}
