import assert from "node:assert/strict";
import { test } from "node:test";
import { fc } from "../../../test/support/properties.ts";
import { computeInboxAddress } from "@tributary/inbox/address";
import { encodeCctpV2Config } from "@tributary/inbox/cctpV2";
import { cctpV2AdapterAddress } from "@tributary/inbox/cctpV2Adapter";
import { checksumAddress } from "@tributary/inbox/checksum";
import { currentHub, feeBpsMax, firstHub, hubs } from "@tributary/inbox/hubs";
import { computeRoutesRoot } from "@tributary/inbox/routes";
import { computeInboxSalt } from "@tributary/inbox/salt";
import type { Hex, Terms } from "@tributary/inbox/terms";
import { verifyInbox } from "@tributary/inbox/verify";
import type { ExpectedInbox, VerifyReason } from "@tributary/inbox/verify";
import { termsToWire } from "@tributary/inbox/wire";
import type { InboxTerms } from "@tributary/inbox/wire";
import { anyAddress, anyTerms, anyBytes32 } from "./arbitraries.ts";

const intent = { deploymentId: `0x${"ab".repeat(32)}`, intentId: "pi_example" } as const;
const attacker = `0x${"66".repeat(20)}` as const;
const zero = `0x${"00".repeat(20)}` as const;

/**
 * The terms of an honest server: the fee is within the hub's cap, the payout wallet recovers, and there are no routes.
 */
const honestTerms = anyTerms.map((terms): Terms => ({
  ...terms,
  feeBps: terms.feeBps % (feeBpsMax + 1),
  salt: computeInboxSalt(intent.deploymentId, intent.intentId),
  recovery: terms.payout,
  routesRoot: `0x${"00".repeat(32)}`,
}));

/** The response that a merchant received, and the merchant's expectations. */
function issueInbox(terms: Terms): { wire: InboxTerms; expected: ExpectedInbox } {
  const expected = {
    inboxAddress: checksumAddress(computeInboxAddress(terms)),
    payoutWallet: checksumAddress(terms.payout),
    token: terms.settleToken,
    chainId: terms.settleChainId,
    feeBpsMax: terms.feeBps,
    feeRecipient: terms.feeRecipient,
    intent,
  };
  return { wire: termsToWire(terms), expected };
}

function assertRefused(wire: InboxTerms, expected: ExpectedInbox, reason: VerifyReason): void {
  assert.deepEqual(verifyInbox(wire, expected), { ok: false, reason });
}

test("an honest inbox passes, in every letter case", () => {
  fc.assert(
    fc.property(honestTerms, (terms) => {
      const { wire, expected } = issueInbox(terms);
      assert.deepEqual(verifyInbox(wire, expected), { ok: true });
      const inboxAddressLower = expected.inboxAddress.toLowerCase();
      assert.deepEqual(verifyInbox(wire, { ...expected, inboxAddress: inboxAddressLower }), { ok: true });
    }),
  );
});

test("an inbox of every published hub passes, and one that names parts of two hubs does not", () => {
  const [terms] = fc.sample(honestTerms, 1);
  assert.ok(terms !== undefined);
  for (const hub of hubs) {
    const expected: ExpectedInbox = {
      ...issueInbox(terms).expected,
      inboxAddress: computeInboxAddress(terms, hub),
    };
    const wire = termsToWire(terms, hub);
    assert.deepEqual(verifyInbox(wire, expected), { ok: true });
    const other = termsToWire(terms, hub === firstHub ? currentHub : firstHub);
    assertRefused({ ...wire, hub: other.hub }, expected, "wrong_hub");
    assertRefused({ ...wire, implementation: other.implementation }, expected, "wrong_hub");
    assertRefused({ ...wire, version: other.version }, expected, "wrong_hub");
    assertRefused({ ...wire, version: 3 }, expected, "unknown_version");
    assertRefused(other, expected, "wrong_address");
  }
});

test("a fee above the hub's cap is refused even when it was agreed, because such an inbox is never settled", () => {
  const [terms] = fc.sample(honestTerms, 1);
  assert.ok(terms !== undefined);
  const atCap = issueInbox({ ...terms, feeBps: feeBpsMax });
  assert.deepEqual(verifyInbox(atCap.wire, atCap.expected), { ok: true });
  const { wire, expected } = issueInbox({ ...terms, feeBps: feeBpsMax + 1 });
  assertRefused(wire, { ...expected, feeBpsMax: 10_000 }, "fee_too_high");
});

test("a hub as fee recipient is refused, because it cannot pass the fee on", () => {
  const [terms] = fc.sample(honestTerms, 1);
  assert.ok(terms !== undefined);
  for (const { address } of hubs) {
    const { wire, expected } = issueInbox({ ...terms, feeBps: 50, feeRecipient: address });
    assertRefused(wire, expected, "wrong_fee_recipient");
    const free = issueInbox({ ...terms, feeBps: 0, feeRecipient: address });
    assert.deepEqual(verifyInbox(free.wire, free.expected), { ok: true });
  }
});

test("D31: changed terms with an unchanged address are refused", () => {
  fc.assert(
    fc.property(honestTerms, honestTerms, (terms, other) => {
      const { wire, expected } = issueInbox(terms);
      for (const field of ["settleToken", "payout", "feeRecipient", "recoverAfter"] as const) {
        if (terms[field] === other[field]) continue;
        assertRefused(termsToWire({ ...terms, [field]: other[field] }), expected, "wrong_address");
      }
      const { inboxAddress: otherAddress } = issueInbox(other).expected;
      if (otherAddress !== expected.inboxAddress) {
        assertRefused(wire, { ...expected, inboxAddress: otherAddress }, "wrong_address");
      }
    }),
  );
});

test("D31: an address computed from a thief's terms is refused, whichever field was changed", () => {
  const changes: readonly (readonly [Partial<Terms>, VerifyReason])[] = [
    [{ payout: attacker }, "wrong_payout"],
    [{ settleToken: attacker }, "wrong_token"],
    [{ settleChainId: 666_666n }, "wrong_chain"],
    [{ feeBps: 10_000 }, "fee_too_high"],
    [{ feeRecipient: attacker }, "wrong_fee_recipient"],
    [{ recovery: attacker }, "wrong_recovery"],
    [{ routesRoot: `0x${"66".repeat(32)}` }, "wrong_routes"],
    [{ salt: `0x${"66".repeat(32)}` }, "wrong_intent"],
  ];
  const [sample] = fc.sample(honestTerms, 1);
  assert.ok(sample !== undefined);
  const terms = { ...sample, feeBps: 50 };
  const { expected } = issueInbox(terms);
  for (const [change, reason] of changes) {
    const forged = { ...terms, ...change };
    assertRefused(termsToWire(forged), { ...expected, inboxAddress: computeInboxAddress(forged) }, reason);
  }
});

test("other contracts than the published ones are refused, whatever their terms", () => {
  const [terms] = fc.sample(honestTerms, 1);
  assert.ok(terms !== undefined);
  const { wire, expected } = issueInbox(terms);
  assertRefused({ ...wire, version: 3 }, expected, "unknown_version");
  assertRefused({ ...wire, hub: attacker }, expected, "wrong_hub");
  assertRefused({ ...wire, implementation: attacker }, expected, "wrong_hub");
});

test("recovery may be none, the payout wallet, or the account's own address", () => {
  fc.assert(
    fc.property(honestTerms, anyAddress, (terms, own) => {
      const nobody = { ...terms, recovery: `0x${"00".repeat(20)}` } as const;
      const mine = { ...terms, recovery: own };
      assert.equal(verifyInbox(issueInbox(nobody).wire, issueInbox(nobody).expected).ok, true);
      assert.equal(verifyInbox(issueInbox(mine).wire, { ...issueInbox(mine).expected, recovery: own }).ok, true);
      if (own !== terms.payout) assertRefused(issueInbox(mine).wire, issueInbox(mine).expected, "wrong_recovery");
    }),
  );
});

test("agreed routes and a lower fee pass, and malformed values are named", () => {
  fc.assert(
    fc.property(honestTerms, anyBytes32, (honest, routesRoot) => {
      const terms = { ...honest, routesRoot };
      const { wire, expected } = issueInbox(terms);
      assert.deepEqual(verifyInbox(wire, { ...expected, routesRoot, feeBpsMax: 10_000 }), { ok: true });
      assertRefused({ ...wire, payout: "0x" }, expected, "malformed_terms");
      assertRefused(wire, { ...expected, payoutWallet: "me" }, "malformed_expectation");
      assertRefused(wire, { ...expected, chainId: 0.5 }, "malformed_expectation");
      assertRefused(wire, { ...expected, routesRoot, feeBpsMax: Number.NaN }, "fee_too_high");
    }),
  );
});

test("a payout on Solana is verified by its routes, and not without them", () => {
  const route = { chainId: 8_453n, token: attacker, adapter: cctpV2AdapterAddress, minAmount: 1n };
  const settings = { messenger: attacker, domain: 5, finalityThresholdMin: 2_000, feePpmMax: 0 };
  const rootOf = (recipient: Hex) =>
    computeRoutesRoot([{ ...route, config: encodeCctpV2Config({ ...settings, recipient }) }]);
  const [mine, another] = [rootOf(`0x${"01".repeat(32)}`), rootOf(`0x${"02".repeat(32)}`)];
  fc.assert(
    fc.property(honestTerms, (honest) => {
      const nowhere = { settleChainId: 0n, settleToken: zero, payout: zero, recovery: zero };
      const { wire, expected } = issueInbox({ ...honest, ...nowhere, routesRoot: mine });
      assert.deepEqual(verifyInbox(wire, { ...expected, routesRoot: mine }), { ok: true });
      assertRefused(wire, { ...expected, routesRoot: another }, "wrong_routes");
      assertRefused(wire, expected, "wrong_routes");
    }),
  );
});

test("a recovery address that is expected must be there, and must be an address", () => {
  fc.assert(
    fc.property(honestTerms, anyAddress, (terms, own) => {
      const none = issueInbox({ ...terms, recovery: zero });
      assertRefused(none.wire, { ...none.expected, recovery: own }, "wrong_recovery");
      assert.deepEqual(verifyInbox(none.wire, { ...none.expected, recovery: zero }), { ok: true });
      // An intent from before the account had a recovery address of its own.
      const earlier = issueInbox(terms);
      assert.deepEqual(verifyInbox(earlier.wire, { ...earlier.expected, recovery: own }), { ok: true });
      assertRefused(earlier.wire, { ...earlier.expected, recovery: "mine" }, "malformed_expectation");
    }),
  );
});
