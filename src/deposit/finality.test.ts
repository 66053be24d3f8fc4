import assert from "node:assert/strict";
import { test } from "node:test";
import type { FinalityTier } from "../config/config.ts";
import { lastCountableBlock, type ChainHead, type Exposure } from "./finality.ts";
import { lastFinalBlock } from "../watch/finality.ts";

const head: ChainHead = { chain: "eip155:1", number: 100n, safeNumber: 90n, finalizedNumber: 80n };
const tiers: FinalityTier[] = [
  { upToPriceUnits: 1_000n, finality: { confirmations: 6 } },
  { upToPriceUnits: 10_000n, finality: { tag: "safe" } },
  { upToPriceUnits: undefined, finality: { tag: "finalized" } },
];

const alone = (exposures: Exposure[]) => ({ exposures, elsewhereUnits: 0n });

test("a block is its own first confirmation", () => {
  assert.equal(lastFinalBlock({ confirmations: 1 }, head), 100n);
  assert.equal(lastFinalBlock({ confirmations: 6 }, head), 95n);
});

test("a small amount counts by confirmations, a larger one by the chain's own tags", () => {
  assert.equal(lastCountableBlock(tiers, head, alone([{ blockNumber: 95n, priceUnits: 1_000n }])), 95n);
  assert.equal(lastCountableBlock(tiers, head, alone([{ blockNumber: 95n, priceUnits: 1_001n }])), 90n);
  assert.equal(lastCountableBlock(tiers, head, alone([{ blockNumber: 95n, priceUnits: 10_001n }])), 80n);
});

test("splitting a large amount into small deposits does not lower its tier", () => {
  const split = Array.from({ length: 11 }, () => ({ blockNumber: 95n, priceUnits: 100n }));
  assert.equal(lastCountableBlock(tiers, head, alone(split.slice(0, 10))), 95n);
  assert.equal(lastCountableBlock(tiers, head, alone(split)), 90n);
});

test("deposits within the next tier's reach are not exposed", () => {
  const old = { blockNumber: 85n, priceUnits: 5_000n };
  assert.equal(lastCountableBlock(tiers, head, alone([old, { blockNumber: 95n, priceUnits: 900n }])), 95n);
});

test("D46 what is exposed on other chains raises the tier", () => {
  const small = [{ blockNumber: 95n, priceUnits: 100n }];
  assert.equal(lastCountableBlock(tiers, head, { exposures: small, elsewhereUnits: 900n }), 95n);
  assert.equal(lastCountableBlock(tiers, head, { exposures: small, elsewhereUnits: 901n }), 90n);
  assert.equal(lastCountableBlock(tiers, head, { exposures: small, elsewhereUnits: 9_901n }), 80n);
});

test("a chain without a finalized block counts nothing by that tag", () => {
  assert.equal(
    lastCountableBlock(
      [{ upToPriceUnits: undefined, finality: { tag: "finalized" } }],
      { ...head, finalizedNumber: -1n },
      alone([]),
    ),
    -1n,
  );
});
