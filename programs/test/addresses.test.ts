import assert from "node:assert/strict";
import { test } from "node:test";
import { findSolanaProgram, solanaProgramHash } from "@tributary/inbox/solana/program";
import { buildReclaim, buildSettle } from "@tributary/inbox/solana/instructions";
import { computeSolanaInbox } from "@tributary/inbox/solana/address";
import { systemProgram, tokenProgram } from "@tributary/inbox/solana/keys";
import type { SolanaHopTerms, SolanaPayTerms } from "@tributary/inbox/solana/terms";
import { errorCode, withData } from "./support/refusals.ts";
import { Random } from "./support/random.ts";
import { Scene } from "./support/scene.ts";
import { keypairFromSeed } from "./support/world.ts";

const ADDRESSES = 1_000;
const LAMPORTS = 1_000_000n;

test(`the program signs for ${ADDRESSES} addresses that TypeScript derived, and for none with another bump`, () => {
  const scene = new Scene();
  const { world, operator } = scene;
  const random = new Random("addresses");
  const anyKey = () => keypairFromSeed(random.bytes(32)).address;
  let bumpsBelowMax = 0;
  for (let run = 0; run < ADDRESSES; run += 1) {
    const common = {
      salt: `0x${random.bytes(32).toString("hex")}`,
      mint: scene.mint,
      recovery: anyKey(),
      recoverAfter: random.below(2 ** 32),
    } as const;
    const pay: SolanaPayTerms = {
      ...scene.payTerms,
      ...common,
      payout: anyKey(),
      feeAccount: anyKey(),
      feeBps: random.below(1_001),
    };
    const hop: SolanaHopTerms = {
      ...scene.hopTerms,
      ...common,
      mintRecipient: `0x${"00".repeat(12)}${random.bytes(20).toString("hex")}`,
      minAmount: random.u64(),
      domain: random.below(20),
      routes: [
        { feePpmMax: random.below(100_001), finalityThreshold: random.below(2_001) },
        { feePpmMax: random.below(100_001), finalityThreshold: random.below(2_001) },
      ],
    };
    const inbox = scene.compute(run % 2 === 0 ? pay : hop);
    if (inbox.bump < 255) bumpsBelowMax += 1;
    world.put(inbox.address, { owner: systemProgram, data: Buffer.alloc(0), lamports: LAMPORTS });
    const reclaim = buildReclaim(inbox);
    const bumpOffset = reclaim.data.length - 33;
    assert.equal(world.send([operator], [withData(reclaim, bumpOffset, inbox.bump - 1)]).ok, false);
    world.must([operator], [reclaim]);
    assert.equal(world.lamports(inbox.address), 0n);
  }
  assert.ok(bumpsBelowMax > ADDRESSES / 4);
});

test("one published program serves every public cluster, and addresses depend on it", () => {
  const scene = new Scene();
  const clusters = [
    "5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp",
    "4uhcVJyU9pJkvQyS88uRDiswHScCKQY3",
    "EtWTRABZaYq6iMfeYKouRu166VU2xqa1",
  ];
  const [first = "", ...others] = clusters.map((cluster) => findSolanaProgram(cluster));
  assert.ok(others.every((program) => program === first));
  assert.equal(findSolanaProgram("toString"), undefined);
  assert.match(solanaProgramHash, /^[0-9a-f]{64}$/);
  const published = computeSolanaInbox(scene.payTerms, { program: first, tokenProgram });
  assert.notEqual(published.address, scene.compute(scene.payTerms).address);
  const inbox = scene.paid(5n);
  const elsewhere = { ...buildSettle([inbox]), program: first };
  assert.equal(scene.world.send([scene.thief], [elsewhere]).ok, false);
  assert.equal(errorCode("ACCOUNTS"), 0x100);
});
