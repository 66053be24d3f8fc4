import type { FinalityTier } from "../../../src/config/config.ts";
import { sceneCreate, shapeBridged, withMinimum, CHAIN_FAULTS, type Scene } from "./scene.ts";
import type { Stage } from "./stage.ts";

// A payer splits a payment over two chains, each part just within the limit of the first tier, so that both would count
// early.

const LIMIT = 10_000_000n;
const PART_UNITS = 9_900_000n;
const TIERS: FinalityTier[] = [
  { upToPriceUnits: LIMIT, finality: { confirmations: 2 } },
  { upToPriceUnits: undefined, finality: { tag: "finalized" } },
];
const COUNTED_PATIENCE_MS = 90_000;

export const instalments: Scene = {
  name: "instalments",
  isBridged: true,
  calm: [...CHAIN_FAULTS, "leap"],
  shape: (plan) => {
    const shaped = shapeBridged(plan, (chain, index) => ({
      blockMs: index === 0 ? 2_000 : 4_000,
      repeatsTimes: false,
      finality: TIERS,
      finalityLag: { safe: 2, finalized: 30 },
      toleratedReorgDepth: 1,
      agreement: undefined,
      tokens: withMinimum(chain, 0n),
    }));
    return { ...plan, ...shaped, creates: [...shaped.creates, sceneCreate(0), sceneCreate(1)] };
  },
  play: async (stage) => {
    await Promise.all([paySecondAfterFirst(stage, 0), paySecondAfterFirst(stage, 1)]);
  },
};

/** The first intent gets its first part from the other chain, the second one at home. */
async function paySecondAfterFirst(stage: Stage, index: 0 | 1): Promise<void> {
  const known = await stage.intent(index);
  if (known === undefined) return;
  if (index === 0) stage.payAcross(known, PART_UNITS);
  else stage.pay(known, PART_UNITS);
  if (!(await stage.untilTrue(() => stage.countDeposits(known, "counted") > 0, COUNTED_PATIENCE_MS))) return;
  if (index === 0) stage.pay(known, PART_UNITS);
  else stage.payAcross(known, PART_UNITS);
}
