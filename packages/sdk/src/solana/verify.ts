import { computeSolanaInbox } from "@tributary/inbox/solana/address";
import {
  expectSolanaPayout as expectInbox,
  verifySolanaInbox,
  type ExpectedSolanaPayout as ExpectedInbox,
} from "@tributary/inbox/solana/verify";
import { solanaTermsFromWire } from "@tributary/inbox/solana/wire";
import { zeroAddress } from "@tributary/inbox/terms";
import { verifyInbox, type ExpectedInbox as ExpectedEvmInbox } from "@tributary/inbox/verify";
import type { InboxTerms } from "@tributary/inbox/wire";
import { agree } from "../agree.ts";
import type { PayoutCheck } from "../types.ts";

/** Where the merchant's money must arrive on Solana. It comes from the merchant's own code, never from the service. */
export type ExpectedSolanaPayout = Omit<ExpectedInbox, "kind" | "address" | "tokenAccount"> &
  Pick<ExpectedEvmInbox, "bridges">;

/**
 * Makes the `expectedPayout` of `mount` for a payout on Solana, as `expectPayout` does for EVM chains. Addresses are
 * compared letter by letter. An address on an EVM chain passes if it can only bridge to the token account of the same
 * inbox. It is a module of its own, because it brings the curve into your bundle.
 */
export function expectSolanaPayout({ bridges, ...expected }: ExpectedSolanaPayout): PayoutCheck {
  const check: PayoutCheck = ({ terms, inboxes }) => {
    const wire = terms as InboxTerms;
    const { solana } = wire;
    if (solana === undefined) return agree(check, inboxes, () => "wrong_network");
    const verifyOnSolana = (address: string) => verifySolanaInbox(solana, { ...expected, kind: "pay", address });
    const verifyOnEvm = (inboxAddress: string) => {
      const { address } = computeSolanaInbox(solanaTermsFromWire(solana), solana);
      return verifyInbox(wire, {
        inboxAddress,
        payoutWallet: zeroAddress,
        token: zeroAddress,
        chainId: 0,
        feeBpsMax: 0,
        solana: expectInbox({ ...expected, kind: "pay", address }),
        ...(bridges && { bridges }),
      });
    };
    return agree(check, inboxes, ({ namespace, address }) => {
      if (namespace !== "solana" && namespace !== "eip155") return "wrong_network";
      const verified = namespace === "solana" ? verifyOnSolana(address) : verifyOnEvm(address);
      return verified.ok ? undefined : verified.reason;
    });
  };
  return check;
}
