import assert from "node:assert/strict";
import { test } from "node:test";
import { checksumAddress } from "@tributary/inbox/checksum";
import solanaVectors from "@tributary/inbox/solana/vectors.json" with { type: "json" };
import vectors from "@tributary/inbox/vectors.json" with { type: "json" };
import type { InboxTerms } from "@tributary/inbox/wire";
import { checkInbox } from "../page/checkInbox.ts";

const OTHER = "0x000000000000000000000000000000000000dEaD";

test("an address follows from its terms, and every change of them is noticed", () => {
  const [vector] = vectors.inboxes;
  assert.ok(vector);
  const terms = {
    ...vector.terms,
    version: vectors.version,
    hub: vectors.hub,
    implementation: vectors.implementation,
  } as unknown as InboxTerms;
  const shown = {
    inboxAddress: vector.inboxAddress,
    payoutWallet: checksumAddress(terms.payout as `0x${string}`),
    cluster: "1",
    terms,
  };
  assert.deepEqual(checkInbox(shown), { outcome: "matches", feeBps: terms.feeBps });
  assert.equal(checkInbox({ ...shown, inboxAddress: OTHER }).outcome, "differs");
  assert.equal(checkInbox({ ...shown, payoutWallet: OTHER }).outcome, "otherPayout");
  assert.equal(checkInbox({ ...shown, terms: { ...terms, payout: OTHER } }).outcome, "differs");
  assert.equal(checkInbox({ ...shown, terms: { ...terms, feeBps: terms.feeBps + 1 } }).outcome, "differs");
  assert.equal(
    checkInbox({ ...shown, terms: { ...terms, hub: OTHER } }).outcome,
    "unknown",
    "another contract proves nothing",
  );
});

test("on Solana it is the same, and a program that is not published proves nothing", () => {
  const vector = solanaVectors.inboxes.find(({ terms }) => terms.kind === "pay");
  assert.ok(vector);
  const solana = { version: 1, program: solanaVectors.program, tokenProgram: vector.tokenProgram, ...vector.terms };
  const terms = { solana } as unknown as InboxTerms;
  const payoutWallet = String(vector.terms.payout);
  const shown = { inboxAddress: vector.address, payoutWallet, cluster: "unknown", terms };
  assert.equal(checkInbox(shown).outcome, "unknown");
  assert.equal(checkInbox({ ...shown, inboxAddress: payoutWallet }).outcome, "differs");
  assert.equal(checkInbox({ ...shown, payoutWallet: vector.address }).outcome, "otherPayout");
});
