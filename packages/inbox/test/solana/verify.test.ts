import assert from "node:assert/strict";
import { test } from "node:test";
import { fc } from "../../../../test/support/properties.ts";
import { computeInboxSalt } from "@tributary/inbox/salt";
import { computeSolanaInbox } from "@tributary/inbox/solana/address";
import { noKey, token2022Program, tokenProgram } from "@tributary/inbox/solana/keys";
import { findSolanaProgram } from "@tributary/inbox/solana/program";
import type { SolanaHopTerms, SolanaPayTerms, SolanaTerms } from "@tributary/inbox/solana/terms";
import { verifySolanaInbox } from "@tributary/inbox/solana/verify";
import type { ExpectedSolanaHop, ExpectedSolanaPayout, SolanaVerifyReason } from "@tributary/inbox/solana/verify";
import { solanaTermsToWire } from "@tributary/inbox/solana/wire";
import type { SolanaInboxTerms } from "@tributary/inbox/solana/wire";
import { anyHopTerms, anyKey, anyPayTerms } from "./arbitraries.ts";

const RUNS = { numRuns: 25 };
const cluster = "EtWTRABZaYq6iMfeYKouRu166VU2xqa1";
const program = findSolanaProgram(cluster) ?? "";
const programs = { program, tokenProgram };
const intent = { deploymentId: `0x${"ab".repeat(32)}`, intentId: "pi_example" } as const;
const salt = computeInboxSalt(intent.deploymentId, intent.intentId);
const attacker = "B8UwBUUnKwCyKuGMbFKWaG7exYdDk2ozZrPg72NyVbfj";
const honestPay = anyPayTerms.map((terms): SolanaPayTerms => ({ ...terms, salt, recovery: terms.payout }));
const honestHop = anyHopTerms.map((terms): SolanaHopTerms => ({ ...terms, salt, recovery: noKey }));

const addressOf = (terms: SolanaTerms) => computeSolanaInbox(terms, programs).address;
const wireOf = (terms: SolanaTerms) => solanaTermsToWire(terms, programs);

function expectPayout(terms: SolanaPayTerms): ExpectedSolanaPayout {
  const { address, tokenAccount } = computeSolanaInbox(terms, programs);
  const { mint, payout: payoutWallet, feeBps: feeBpsMax, feeAccount } = terms;
  return { kind: "pay", cluster, address, tokenAccount, mint, payoutWallet, feeBpsMax, feeAccount, intent };
}

function expectHop(terms: SolanaHopTerms): ExpectedSolanaHop {
  const { address } = computeSolanaInbox(terms, programs);
  const { mint, domain } = terms;
  return {
    kind: "hop",
    cluster,
    address,
    mint,
    domain,
    inboxAddress: `0x${terms.mintRecipient.slice(26)}`,
    feePpmMax: 100_000,
    intent,
  };
}

function assertRefused(
  wire: SolanaInboxTerms,
  expected: ExpectedSolanaPayout | ExpectedSolanaHop,
  reason: SolanaVerifyReason,
): void {
  assert.deepEqual(verifySolanaInbox(wire, expected), { ok: false, reason });
}

test("honest inboxes pass", () => {
  fc.assert(
    fc.property(honestPay, honestHop, (pay, hop) => {
      assert.deepEqual(verifySolanaInbox(wireOf(pay), expectPayout(pay)), { ok: true });
      assert.deepEqual(verifySolanaInbox(wireOf(pay), { ...expectPayout(pay), feeBpsMax: 1_000 }), { ok: true });
      assert.deepEqual(verifySolanaInbox(wireOf(hop), expectHop(hop)), { ok: true });
    }),
    RUNS,
  );
});

test("changed terms with an unchanged address are refused, whichever field was changed", () => {
  fc.assert(
    fc.property(honestPay, honestPay, honestHop, (terms, other, hop) => {
      for (const field of ["mint", "payout", "feeAccount", "rentRecipient", "recovery", "recoverAfter"] as const) {
        if (terms[field] === other[field]) continue;
        assertRefused(wireOf({ ...terms, [field]: other[field] }), expectPayout(terms), "wrong_address");
      }
      const minAmount = (hop.minAmount + 1n) % 2n ** 64n;
      assertRefused(wireOf({ ...hop, minAmount }), expectHop(hop), "wrong_address");
      assertRefused(wireOf({ ...hop, messenger: attacker }), expectHop(hop), "wrong_address");
    }),
    RUNS,
  );
});

test("an address computed from a thief's terms is refused, whichever field was changed", () => {
  const [pay] = fc.sample(honestPay, 1);
  const [hop] = fc.sample(honestHop, 1);
  assert.ok(pay && hop);
  const agreed = { ...pay, feeBps: 50 };
  const payChanges: readonly (readonly [Partial<SolanaPayTerms>, SolanaVerifyReason])[] = [
    [{ payout: attacker }, "wrong_payout"],
    [{ mint: attacker }, "wrong_token"],
    [{ feeBps: 51 }, "fee_too_high"],
    [{ feeAccount: attacker }, "wrong_fee_recipient"],
    [{ recovery: attacker }, "wrong_recovery"],
    [{ salt: `0x${"66".repeat(32)}` }, "wrong_intent"],
  ];
  for (const [change, reason] of payChanges) {
    const forged = { ...agreed, ...change };
    assertRefused(wireOf(forged), { ...withoutTokenAccount(agreed), address: addressOf(forged) }, reason);
  }
  const hopChanges: readonly (readonly [Partial<SolanaHopTerms>, SolanaVerifyReason])[] = [
    [{ mintRecipient: `0x${"00".repeat(12)}${"66".repeat(20)}` }, "wrong_payout"],
    [{ mintRecipient: `0x01${hop.mintRecipient.slice(4)}` }, "wrong_payout"],
    [{ domain: hop.domain === 0 ? 1 : 0 }, "wrong_chain"],
    [{ messenger: attacker }, "wrong_bridge"],
    [{ mint: attacker }, "wrong_token"],
    [{ recovery: attacker }, "wrong_recovery"],
    [{ salt: `0x${"66".repeat(32)}` }, "wrong_intent"],
  ];
  for (const [change, reason] of hopChanges) {
    const forged = { ...hop, ...change };
    assertRefused(wireOf(forged), { ...expectHop(hop), address: addressOf(forged) }, reason);
  }
  const capped = { ...hop, routes: [{ feePpmMax: 5_001, finalityThreshold: 1 }, hop.routes[1]] } as const;
  assertRefused(wireOf(capped), { ...expectHop(capped), feePpmMax: 5_000 }, "fee_too_high");
  assertRefused(wireOf(hop), { ...expectHop(hop), feePpmMax: Number.NaN }, "fee_too_high");
  assertRefused(wireOf(agreed), { ...expectPayout(agreed), feeBpsMax: Number.NaN }, "fee_too_high");
});

function withoutTokenAccount(terms: SolanaPayTerms): ExpectedSolanaPayout {
  const { tokenAccount: _, ...expected } = expectPayout(terms);
  return expected;
}

test("another program is refused unless the caller expects it", () => {
  fc.assert(
    fc.property(honestPay, anyKey, (terms, other) => {
      const elsewhere = { program: other, tokenProgram };
      const inbox = computeSolanaInbox(terms, elsewhere);
      const wire = solanaTermsToWire(terms, elsewhere);
      const expected = { ...withoutTokenAccount(terms), address: inbox.address };
      assertRefused(wire, expected, "wrong_program");
      assert.deepEqual(verifySolanaInbox(wire, { ...expected, program: other }), { ok: true });
      assertRefused(wire, { ...expected, cluster: "toString" }, "wrong_program");
      assertRefused({ ...wireOf(terms), version: 2 }, expectPayout(terms), "unknown_version");
      assertRefused(wireOf(terms), { ...expectPayout(terms), cluster: "private" }, "wrong_program");
    }),
    RUNS,
  );
});

test("another token account, token program or kind is refused", () => {
  const [pay] = fc.sample(honestPay, 1);
  const [hop] = fc.sample(honestHop, 1);
  assert.ok(pay && hop);
  assertRefused(wireOf(pay), { ...expectPayout(pay), tokenAccount: attacker }, "wrong_token_account");
  const on2022 = solanaTermsToWire(pay, { program, tokenProgram: token2022Program });
  assertRefused(on2022, expectPayout(pay), "wrong_token_account");
  assertRefused(solanaTermsToWire(pay, { program, tokenProgram: attacker }), expectPayout(pay), "malformed_terms");
  assertRefused(wireOf(hop), { ...withoutTokenAccount(pay), address: addressOf(hop), mint: hop.mint }, "wrong_kind");
  assertRefused(wireOf(pay), { ...expectHop(hop), address: addressOf(pay), mint: pay.mint }, "wrong_kind");
});

test("recovery may be none, the payout wallet, or the account's own key", () => {
  fc.assert(
    fc.property(honestPay, anyKey, (terms, own) => {
      const none = { ...terms, recovery: noKey };
      const mine = { ...terms, recovery: own };
      assert.equal(verifySolanaInbox(wireOf(none), expectPayout(none)).ok, true);
      assert.equal(verifySolanaInbox(wireOf(mine), { ...expectPayout(mine), recovery: own }).ok, true);
      assertRefused(wireOf(mine), expectPayout(mine), "wrong_recovery");
    }),
    RUNS,
  );
});

test("malformed values are refused and named", () => {
  const [pay] = fc.sample(honestPay, 1);
  const [hop] = fc.sample(honestHop, 1);
  assert.ok(pay && hop);
  const wire = wireOf(pay) as Extract<SolanaInboxTerms, { kind: "pay" }>;
  const hopWire = wireOf(hop) as Extract<SolanaInboxTerms, { kind: "hop" }>;
  const malformed = [
    { ...wire, payout: "me" },
    { ...wire, payout: `1${wire.payout}` },
    { ...wire, feeBps: 1_001 },
    { ...wire, feeBps: 0.5 },
    { ...wire, salt: "0x" },
    { ...wire, recoverAfter: -1 },
    { ...wire, kind: "other" },
    { ...wire, program: "0OIl" },
    { ...hopWire, minAmount: "-1" },
    { ...hopWire, minAmount: "18446744073709551616" },
    { ...hopWire, domain: 2 ** 32 },
    { ...hopWire, routes: [] },
    { ...hopWire, routes: [null, null] },
    { ...hopWire, routes: [...hopWire.routes, ...hopWire.routes] },
    { ...hopWire, routes: [{ feePpmMax: 100_001, finalityThreshold: 1 }, hopWire.routes[1]] },
    { ...hopWire, mintRecipient: "0xab" },
  ];
  for (const each of malformed)
    assertRefused(each as unknown as SolanaInboxTerms, expectPayout(pay), "malformed_terms");
  for (const change of [{ address: "me" }, { mint: "" }, { payoutWallet: "0x" }])
    assertRefused(wire, { ...expectPayout(pay), ...change }, "malformed_expectation");
  assertRefused(hopWire, { ...expectHop(hop), inboxAddress: "0x1" }, "malformed_expectation");
  assertRefused(hopWire, { ...expectHop(hop), domain: 0.5 }, "malformed_expectation");
});

test("a recovery key that is expected must be there, and must be a key", () => {
  fc.assert(
    fc.property(honestPay, honestHop, anyKey, (pay, hop, own) => {
      const none = { ...pay, recovery: noKey };
      assertRefused(wireOf(none), { ...expectPayout(none), recovery: own }, "wrong_recovery");
      assertRefused(wireOf(hop), { ...expectHop(hop), recovery: own }, "wrong_recovery");
      assert.deepEqual(verifySolanaInbox(wireOf(hop), { ...expectHop(hop), recovery: noKey }), { ok: true });
      // An intent from before the account had a recovery key of its own.
      assert.deepEqual(verifySolanaInbox(wireOf(pay), { ...expectPayout(pay), recovery: own }), { ok: true });
      assertRefused(wireOf(pay), { ...expectPayout(pay), recovery: "mine" }, "malformed_expectation");
    }),
    RUNS,
  );
});
