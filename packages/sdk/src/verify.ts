import { verifyInbox, type ExpectedInbox } from "@tributary/inbox/verify";
import type { InboxTerms } from "@tributary/inbox/wire";
import { agree } from "./agree.ts";
import type { PayoutCheck } from "./types.ts";

/** Where the merchant's money must arrive. It comes from the merchant's own code, never from the service. */
export type ExpectedPayout = Omit<ExpectedInbox, "inboxAddress"> & {
  /**
   * The contracts of the only tokens that a wallet of your page may be asked for, by chain id; any token where this is
   * left out.
   */
  readonly tokens?: Readonly<Record<number, string>>;
};

/**
 * Makes the `expectedPayout` of `mount`: it recomputes every address that the frame is about to show from its terms,
 * and compares them with the payout. Bundle it with your own page; a script that the service serves cannot prove the
 * service. Addresses of networks that it cannot recompute are refused. A refusal is a `VerifyReason` of
 * @tributary/inbox, "wrong_network" or "no_address".
 */
export function expectPayout({ tokens, ...expected }: ExpectedPayout): PayoutCheck {
  const check: PayoutCheck = ({ terms, inboxes }) =>
    agree(check, inboxes, ({ namespace, address }) => {
      if (namespace !== "eip155") return "wrong_network";
      const verified = verifyInbox(terms as InboxTerms, { ...expected, inboxAddress: address });
      return verified.ok ? undefined : verified.reason;
    });
  if (tokens === undefined) return check;
  const mayAsk: PayoutCheck["mayAsk"] = (token, chainId) =>
    token !== undefined && tokens[Number(chainId)]?.toLowerCase() === token.toLowerCase();
  return Object.assign(check, { mayAsk });
}
