import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { test } from "node:test";
import { computeSolanaInbox } from "@tributary/inbox/solana/address";
import { findSolanaProgram } from "@tributary/inbox/solana/program";
import { encodeSolanaTerms } from "@tributary/inbox/solana/terms";
import { solanaTermsFromWire, solanaTermsToWire } from "@tributary/inbox/solana/wire";
import type { SolanaInboxTerms } from "@tributary/inbox/solana/wire";

// Other implementations are compared with these values. A change here means that issued inboxes can no longer be
// computed.

type Vector = {
  name: string;
  terms: object;
  tokenProgram: string;
  encoded: string;
  termsHash: string;
  address: string;
  bump: number;
  tokenAccount: string;
};

const path = new URL(import.meta.resolve("@tributary/inbox/solana/vectors.json"));
const { program, inboxes } = JSON.parse(await readFile(path, "utf8")) as { program: string; inboxes: Vector[] };

test("the vectors belong to the published program of every public cluster", () => {
  for (const cluster of [
    "5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp",
    "4uhcVJyU9pJkvQyS88uRDiswHScCKQY3",
    "EtWTRABZaYq6iMfeYKouRu166VU2xqa1",
  ])
    assert.equal(findSolanaProgram(cluster), program);
  assert.equal(findSolanaProgram("11111111111111111111111111111111"), undefined);
});

test("bytes and hashes of terms, addresses, bumps and token accounts", () => {
  assert.equal(inboxes.length, 19);
  for (const { name, terms: wire, tokenProgram, encoded, ...expected } of inboxes) {
    const terms = solanaTermsFromWire({ version: 1, program, tokenProgram, ...wire } as unknown as SolanaInboxTerms);
    assert.equal(`0x${Buffer.from(encodeSolanaTerms(terms)).toString("hex")}`, encoded, name);
    const { termsHash, address, bump, tokenAccount } = computeSolanaInbox(terms, { program, tokenProgram });
    assert.deepEqual({ termsHash, address, bump, tokenAccount }, expected, name);
    const again = solanaTermsFromWire(solanaTermsToWire(terms, { program, tokenProgram }));
    assert.deepEqual(again, terms, name);
  }
  assert.ok(new Set(inboxes.map(({ bump }) => bump)).size > 2);
});
