import assert from "node:assert/strict";
import { test } from "node:test";
import { computeSolanaInbox } from "@tributary/inbox/solana/address";
import { cctpMessenger } from "@tributary/inbox/solana/cctp";
import { noKey, tokenProgram } from "@tributary/inbox/solana/keys";
import { findSolanaProgram } from "@tributary/inbox/solana/program";
import { solanaTermsToWire } from "@tributary/inbox/solana/wire";
import { verifySolanaInboxes } from "../page/solana/part.ts";
import type { CheckoutInbox, CheckoutState } from "../src/checkoutState.ts";

// The page shows an address on Solana of a payment to an EVM chain only if it can only cross to the payment's own inbox.

const CLUSTER = "5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp";
const MINT = "EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v";
const OWN = `0x${"ab".repeat(20)}`;
const programs = { program: findSolanaProgram(CLUSTER) ?? "", tokenProgram };
const terms = {
  kind: "hop",
  salt: `0x${"5a".repeat(32)}`,
  mint: MINT,
  mintRecipient: `0x${"00".repeat(12)}${OWN.slice(2)}`,
  messenger: cctpMessenger,
  minAmount: 2n,
  domain: 6,
  routes: [
    { feePpmMax: 3_000, finalityThreshold: 1_000 },
    { feePpmMax: 1_000, finalityThreshold: 2_000 },
  ],
  rentRecipient: "FcjfSXfyM9aeHLkuxmqCS77BARyGwkur3f4ThjmsJb1v",
  recovery: "B8UwBUUnKwCyKuGMbFKWaG7exYdDk2ozZrPg72NyVbfj",
  recoverAfter: 1_900_000_000,
} as const;
const { address } = computeSolanaInbox(terms, programs);
const inboxes = [
  { namespace: "eip155", address: OWN, isPayoutInbox: true },
  { namespace: "solana", reference: CLUSTER, address, isPayoutInbox: false },
] as CheckoutInbox[];

function check(wire: object, shown: readonly CheckoutInbox[] = inboxes): string {
  const state = { inboxes: shown, terms: { solanaRoutes: [wire] } } as unknown as CheckoutState;
  return verifySolanaInboxes(state, null).outcome;
}

test("an inbox that can only cross to the payment's own one is shown, and nothing else", () => {
  const wire = solanaTermsToWire(terms, programs);
  assert.equal(check(wire), "ok");
  const [own, hop] = inboxes as [CheckoutInbox, CheckoutInbox];
  assert.equal(check(wire, [own, { ...hop, address: terms.recovery }]), "mismatch");
  assert.equal(check(wire, [{ ...own, address: `0x${"cd".repeat(20)}` }, hop]), "mismatch", "another recipient");
  assert.equal(check({ ...wire, messenger: noKey }), "mismatch");
  assert.equal(check({ ...wire, mintRecipient: `0x${"00".repeat(12)}${"cd".repeat(20)}` }), "mismatch");
  assert.equal(check({}), "mismatch");
});
