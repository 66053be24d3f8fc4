import assert from "node:assert/strict";
import { test } from "node:test";
import { computeInboxAddress } from "@tributary/inbox/address";
import { computeSolanaInbox } from "@tributary/inbox/solana/address";
import { tokenProgram } from "@tributary/inbox/solana/keys";
import { placeholderProgram } from "@tributary/inbox/solana/program";
import type { SolanaPayTerms } from "@tributary/inbox/solana/terms";
import { solanaTermsToWire } from "@tributary/inbox/solana/wire";
import type { Terms } from "@tributary/inbox/terms";
import { termsToWire } from "@tributary/inbox/wire";
import { parseIntents } from "../../src/parseIntents.ts";
import { InboxInputError } from "../../src/parseInboxes.ts";
import { parseSolanaInboxes } from "../../src/solana/parseSolanaInboxes.ts";

// A file whose intents have inboxes on one kind of chain, or on both.

const WALLET = "GbssP5YenYsFyBfrU1WGMMJD9vgo8D4PMgEozG5UxQYX";
const salt = `0x${"5a".repeat(32)}` as const;
const evmTerms: Terms = {
  salt,
  settleChainId: 8_453n,
  settleToken: "0x833589fcd6edb6e08f4c7c32d4f71b54bda02913",
  payout: `0x${"aa".repeat(20)}`,
  feeRecipient: `0x${"bb".repeat(20)}`,
  feeBps: 50,
  recovery: `0x${"cc".repeat(20)}`,
  recoverAfter: 1_815_000_000,
  routesRoot: `0x${"00".repeat(32)}`,
};
const solanaTerms: SolanaPayTerms = {
  kind: "pay",
  salt,
  mint: "EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v",
  payout: WALLET,
  feeAccount: WALLET,
  feeBps: 50,
  rentRecipient: WALLET,
  recovery: WALLET,
  recoverAfter: 1_815_000_000,
};
const programs = { program: placeholderProgram, tokenProgram };
const evmAddress = computeInboxAddress(evmTerms);
const solanaAddress = computeSolanaInbox(solanaTerms, programs).address;
const evmWire = termsToWire(evmTerms);
const solanaWire = solanaTermsToWire(solanaTerms, programs);

function addressesOf(file: unknown): [string[], string[]] {
  const { onEvm, onSolana } = parseIntents(JSON.stringify(file));
  return [onEvm.map(({ address }) => address), onSolana.map(({ inbox }) => inbox.address)];
}

test("an intent has its inbox on each kind of chain that its terms name", () => {
  const both = { intentId: "pi_1", inboxAddress: solanaAddress, inboxTerms: { ...evmWire, solana: solanaWire } };
  assert.deepEqual(addressesOf(both), [[evmAddress], [solanaAddress]]);
  assert.deepEqual(addressesOf({ inboxTerms: { solana: solanaWire } }), [[], [solanaAddress]]);
  assert.deepEqual(addressesOf(solanaWire), [[], [solanaAddress]]);
  assert.deepEqual(addressesOf([{ inboxTerms: evmWire }, { inboxTerms: { solana: solanaWire } }]), [
    [evmAddress],
    [solanaAddress],
  ]);
  // As `tributary intents show --json` prints it.
  assert.deepEqual(addressesOf({ intent: both, deposits: [] }), [[evmAddress], [solanaAddress]]);
});

test("a payout on Solana has an EVM inbox only if its EVM terms have routes", () => {
  const zero = `0x${"00".repeat(20)}` as const;
  const nowhere = { settleChainId: 0n, settleToken: zero, payout: zero, feeRecipient: zero, feeBps: 0, recovery: zero };
  const intent = (terms: Terms) => ({
    intentId: "pi_1",
    inboxAddress: solanaAddress,
    inboxTerms: { ...termsToWire(terms), solana: solanaWire },
  });
  const bound: Terms = { ...evmTerms, ...nowhere };
  assert.deepEqual(addressesOf(intent(bound)), [[], [solanaAddress]]);
  const routed: Terms = { ...bound, routesRoot: `0x${"77".repeat(32)}` };
  assert.deepEqual(addressesOf(intent(routed)), [[computeInboxAddress(routed)], [solanaAddress]]);
});

test("a malformed entry is named by its number in the file and by its field", () => {
  const good = { inboxTerms: evmWire };
  const cases: readonly (readonly [unknown, RegExp])[] = [
    [
      [good, { inboxTerms: { solana: { ...solanaWire, payout: "me" } } }],
      /^Entry 2: inboxTerms\.solana: payout must be/,
    ],
    [[good, good, { inboxTerms: {} }], /^Entry 3: it has no inboxTerms/],
    [{ inboxTerms: { solana: { ...solanaWire, program: 1 } } }, /^inboxTerms\.solana: program must be the base58/],
    [{ inboxTerms: { solana: { ...solanaWire, tokenProgram: WALLET } } }, /^inboxTerms\.solana: tokenProgram must be/],
    [{ inboxAddress: WALLET, inboxTerms: { solana: solanaWire } }, new RegExp(`determine the inbox ${solanaAddress}`)],
    [{ inboxAddress: WALLET, inboxTerms: evmWire }, new RegExp(`determine the inbox ${evmAddress}`)],
  ];
  for (const [file, message] of cases)
    assert.throws(
      () => {
        // Beside an entry that is well formed, the message is about the one that is left out.
        for (const reason of parseIntents(JSON.stringify(file)).refused) throw new InboxInputError(reason);
      },
      (error) => error instanceof InboxInputError && message.test(error.message),
      String(message),
    );
});

test("an inbox of another program than the cluster's is refused", () => {
  assert.throws(() => parseSolanaInboxes(JSON.stringify(solanaWire), WALLET), /belongs to the program A27y/);
});

test("a malformed entry does not hide the others, and no entry brings its own text into the id", () => {
  const escaped = { intentId: "pi_1\u001b[2K\r✓ pi_1 pays you", inboxTerms: evmWire };
  const { onEvm, refused } = parseIntents(JSON.stringify([{ inboxTerms: {} }, escaped]));
  assert.deepEqual(
    [onEvm.map(({ address, intentId }) => [address, intentId]), refused.length],
    [[[evmAddress, undefined]], 1],
  );
});
