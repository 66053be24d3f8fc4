import { computeSolanaInbox } from "@tributary/inbox/solana/address";
import {
  expectSolanaPayout as expectInbox,
  verifySolanaInbox,
  type ExpectedSolanaHop,
  type ExpectedSolanaPayout as ExpectedInbox,
} from "@tributary/inbox/solana/verify";
import { solanaTermsFromWire } from "@tributary/inbox/solana/wire";
import { zeroAddress } from "@tributary/inbox/terms";
import { verifyInbox, type ExpectedInbox as ExpectedEvmInbox } from "@tributary/inbox/verify";
import { hubFromWire, termsFromWire, type InboxTerms } from "@tributary/inbox/wire";
import { computeInboxAddress } from "@tributary/inbox/address";
import { agree } from "../agree.ts";
import { expectPayout, type ExpectedPayout } from "../verify.ts";
import type { PayoutCheck } from "../types.ts";

/** Where the merchant's money must arrive on Solana. It comes from the merchant's own code, never from the service. */
export type ExpectedSolanaPayout = Omit<ExpectedInbox, "kind" | "address" | "tokenAccount"> &
  Pick<ExpectedEvmInbox, "bridges"> & {
    /** Your recovery address on EVM chains; without it no address there passes. */
    readonly evmRecovery?: string;
  };

/**
 * Makes the `expectedPayout` of `mount` for a payout on Solana, as `expectPayout` does for EVM chains. Addresses are
 * compared letter by letter. An address on an EVM chain passes if it can only bridge to the token account of the same
 * inbox. It is a module of its own, because it brings the curve into your bundle.
 */
export function expectSolanaPayout({ bridges, evmRecovery, ...expected }: ExpectedSolanaPayout): PayoutCheck {
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
        ...(evmRecovery !== undefined && { recovery: evmRecovery }),
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

/** The mint that may be paid on Solana for a payout on an EVM chain. */
export type ExpectedHop = Omit<ExpectedSolanaHop, "kind" | "address" | "tokenAccount" | "inboxAddress">;

/**
 * Makes the `expectedPayout` of `mount` for a payout on an EVM chain that may be paid on Solana too. An address on
 * Solana passes if it can only cross to the EVM inbox of the same payment, and that inbox passes `payout`.
 */
export function expectPayoutFromSolana(payout: ExpectedPayout, hops: readonly ExpectedHop[]): PayoutCheck {
  const onEvm = expectPayout(payout);
  const check: PayoutCheck = ({ terms, inboxes }) => {
    const wire = terms as InboxTerms;
    const inboxAddress = findEvmInbox(wire);
    const passes = (address: string) =>
      hops.some((hop) =>
        (wire.solanaRoutes ?? []).some(
          (each) => verifySolanaInbox(each, { ...hop, kind: "hop", address, inboxAddress }).ok,
        ),
      );
    // The EVM inbox is checked whether it is shown or not.
    const others = inboxes.filter(({ namespace }) => namespace !== "solana");
    const own = { namespace: "eip155", address: inboxAddress } as (typeof inboxes)[number];
    const isSound = onEvm({ terms, inboxes: [own, ...others] });
    check.reason = inboxes.length === 0 ? "no_address" : isSound ? undefined : onEvm.reason;
    const refused = inboxes.some(({ namespace, address }) => namespace === "solana" && !passes(address));
    if (refused) check.reason ??= "wrong_address";
    return check.reason === undefined;
  };
  return onEvm.mayAsk === undefined ? check : Object.assign(check, { mayAsk: onEvm.mayAsk });
}

/** Empty, which passes nowhere, for malformed terms. */
function findEvmInbox(wire: InboxTerms): string {
  try {
    return computeInboxAddress(termsFromWire(wire), hubFromWire(wire));
  } catch {
    return "";
  }
}
