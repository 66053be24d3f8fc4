import { computeInboxAddress } from "@tributary/inbox/address";
import { checksumAddress } from "@tributary/inbox/checksum";
import { verifyInbox } from "@tributary/inbox/verify";
import { termsFromWire } from "@tributary/inbox/wire";
import type { CheckoutInbox, CheckoutOrigins, CheckoutState } from "../src/checkoutState.ts";
import type { AddressCheck } from "../src/situation.ts";

/**
 * Recomputes every EVM inbox from the terms, with the published contracts alone. It catches a changed address, and
 * terms of another coin or chain than the page names. What proves the payout itself is the merchant's own copy of this
 * check.
 */
export function verifyInboxes(
  state: CheckoutState,
  origins: CheckoutOrigins | null,
  issued: readonly CheckoutInbox[],
): AddressCheck {
  const { terms } = state;
  const payout = origins?.origins.find((origin) => origin.isPayout && origin.namespace === "eip155");
  for (const inbox of [...state.inboxes, ...issued]) {
    if (inbox.namespace !== "eip155") continue;
    const verified = verifyInbox(terms, {
      inboxAddress: inbox.address,
      payoutWallet: terms.payout,
      token: payout?.tokenAddress ?? terms.settleToken,
      chainId: payout?.chainId ?? BigInt(terms.settleChainId),
      feeBpsMax: terms.feeBps,
      recovery: terms.recovery,
      routesRoot: toHex(terms.routesRoot),
    });
    if (!verified.ok) return { outcome: "mismatch", expected: expectedAddress(state), received: inbox.address };
  }
  return { outcome: "ok" };
}

function toHex(text: string): `0x${string}` {
  return `0x${text.replace(/^0x/, "")}`;
}

/** Empty where the terms themselves are malformed. */
function expectedAddress({ terms }: CheckoutState): string {
  try {
    return checksumAddress(computeInboxAddress(termsFromWire(terms)));
  } catch {
    return "";
  }
}
