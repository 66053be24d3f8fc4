import assert from "node:assert/strict";
import { test } from "node:test";
import { fc } from "../../../../test/support/properties.ts";
import { computeInboxAddress } from "@tributary/inbox/address";
import { cctpV2Chains, solanaCctpDomain } from "@tributary/inbox/cctpV2Chains";
import { buildCctpV2Routes } from "@tributary/inbox/cctpV2Routes";
import { computeRoutesRoot } from "@tributary/inbox/routes";
import { computeInboxSalt } from "@tributary/inbox/salt";
import { computeSolanaInbox } from "@tributary/inbox/solana/address";
import { decodeKey, tokenProgram } from "@tributary/inbox/solana/keys";
import { findSolanaProgram } from "@tributary/inbox/solana/program";
import type { SolanaPayTerms } from "@tributary/inbox/solana/terms";
import { expectSolanaPayout, type ExpectedSolanaPayout } from "@tributary/inbox/solana/verify";
import { solanaTermsToWire } from "@tributary/inbox/solana/wire";
import type { Hex, Terms } from "@tributary/inbox/terms";
import { verifyInbox, type ExpectedInbox, type VerifyReason } from "@tributary/inbox/verify";
import { routesToWire, termsToWire, type InboxTerms } from "@tributary/inbox/wire";
import { anyTerms } from "../arbitraries.ts";
import { anyPayTerms } from "./arbitraries.ts";

// An intent that is paid out on Solana: its EVM inboxes bridge to the token account of its own inbox there.

const RUNS = { numRuns: 25 };
const cluster = "EtWTRABZaYq6iMfeYKouRu166VU2xqa1";
const programs = { program: findSolanaProgram(cluster) ?? "", tokenProgram };
const intent = { deploymentId: `0x${"ab".repeat(32)}`, intentId: "pi_example" } as const;
const salt = computeInboxSalt(intent.deploymentId, intent.intentId);
const zero = `0x${"00".repeat(20)}` as const;
const anyOwn = fc.tuple(
  anyTerms,
  anyPayTerms.map((terms): SolanaPayTerms => ({ ...terms, salt, recovery: terms.payout })),
);

type Expected = Omit<ExpectedInbox, "solana"> & { solana?: ExpectedSolanaPayout };
type Issued = { wire: InboxTerms; expected: Expected & { solana: ExpectedSolanaPayout } };

function verify(wire: InboxTerms, { solana, ...expected }: Expected) {
  return verifyInbox(wire, { ...expected, ...(solana === undefined ? {} : { solana: expectSolanaPayout(solana) }) });
}

/** `recipient`: where the routes bridge to, by default the token account of the inbox on Solana. */
function issue([evm, pay]: readonly [Terms, SolanaPayTerms], recipient?: Hex): Issued {
  const own = computeSolanaInbox(pay, programs);
  const account: Hex = `0x${Buffer.from(decodeKey("account", own.tokenAccount)).toString("hex")}`;
  const settle = { chainId: 0n, domain: solanaCctpDomain, recipient: recipient ?? account };
  const routes = buildCctpV2Routes({ settle, origins: cctpV2Chains.slice(0, 3) });
  const nowhere = { settleChainId: 0n, settleToken: zero, payout: zero, recovery: zero, feeBps: 0 };
  const terms: Terms = { ...evm, ...nowhere, salt, routesRoot: computeRoutesRoot(routes) };
  const wire = { ...termsToWire(terms), routes: routesToWire(routes), solana: solanaTermsToWire(pay, programs) };
  const { mint, payout: payoutWallet, feeBps: feeBpsMax } = pay;
  const solana = { kind: "pay", cluster, address: own.address, mint, payoutWallet, feeBpsMax, intent } as const;
  const inboxAddress = computeInboxAddress(terms);
  const expected = { inboxAddress, payoutWallet: zero, token: zero, chainId: 0n, feeBpsMax: 0, intent, solana };
  return { wire, expected };
}

function assertRefused({ wire, expected }: { wire: InboxTerms; expected: Expected }, reason: VerifyReason): void {
  assert.deepEqual(verify(wire, expected), { ok: false, reason });
}

test("an inbox whose routes bridge to the intent's own inbox on Solana passes", () => {
  fc.assert(
    fc.property(anyOwn, (own) => {
      const { wire, expected } = issue(own);
      assert.deepEqual(verify(wire, expected), { ok: true });
      // Without expectations about that inbox nothing says whose account the routes pay.
      const { solana: _solana, ...blind } = expected;
      assertRefused({ wire, expected: blind }, "wrong_routes");
    }),
    RUNS,
  );
});

test("routes to another account, and an inbox of another wallet, intent or fee, are refused", () => {
  fc.assert(
    fc.property(anyOwn, anyPayTerms, (own, other) => {
      assertRefused(issue(own, `0x${"5b".repeat(32)}`), "wrong_routes");
      const { wire, expected } = issue(own);
      const { solana: _solana, ...without } = wire;
      assertRefused({ wire: without, expected }, "wrong_solana_inbox");
      // A thief's own inbox, with routes to it, does not have the address that the merchant expects.
      const thief = issue([own[0], { ...own[1], payout: other.payout, recovery: other.payout }]);
      assertRefused(
        { wire: thief.wire, expected: { ...thief.expected, solana: expected.solana } },
        "wrong_solana_inbox",
      );
      const ofAnother = issue([own[0], { ...own[1], salt: other.salt }]);
      const { intent: _intent, ...anyIntent } = ofAnother.expected.solana;
      assertRefused(
        { wire: ofAnother.wire, expected: { ...ofAnother.expected, solana: anyIntent } },
        "wrong_solana_inbox",
      );
      const greedy = { ...expected, solana: { ...expected.solana, feeBpsMax: own[1].feeBps - 1 } };
      assertRefused({ wire, expected: greedy }, "wrong_solana_inbox");
    }),
    RUNS,
  );
});

test("terms that pay out on an EVM chain are no payout on Solana", () => {
  fc.assert(
    fc.property(anyOwn, (own) => {
      const { wire, expected } = issue(own);
      const terms: Terms = {
        ...own[0],
        salt,
        settleChainId: 8_453n,
        recovery: zero,
        feeBps: 0,
        routesRoot: `0x${"00".repeat(32)}`,
      };
      const { routes: _routes, ...onBase } = { ...wire, ...termsToWire(terms), routes: undefined };
      const { payout: payoutWallet, settleToken: token } = terms;
      const inboxAddress = computeInboxAddress(terms);
      assertRefused(
        { wire: onBase, expected: { ...expected, inboxAddress, payoutWallet, token, chainId: 8_453n } },
        "wrong_solana_inbox",
      );
    }),
    RUNS,
  );
});
