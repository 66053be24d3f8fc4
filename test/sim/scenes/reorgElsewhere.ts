import type { TrackedIntent } from "../simWorld.ts";
import { sceneCreate, shapeBridged, withMinimum, CHAIN_FAULTS, type Scene } from "./scene.ts";
import type { Stage } from "./stage.ts";

// A chain loses a payment that was about to count, while small payments on the other chain let that one's loop decide
// the intent.

const CONFIRMATIONS = 6;
const TRIES = 4;
const SMALL_MS = 2_500;
const SEEN_PATIENCE_MS = 40_000;

export const reorgElsewhere: Scene = {
  name: "reorgElsewhere",
  isBridged: true,
  calm: [...CHAIN_FAULTS, "leap", "reorg", "doubleSpend"],
  shape: (plan) => {
    const shaped = shapeBridged(plan, (chain, index) => ({
      blockMs: index === 0 ? 2_000 : 5_000,
      repeatsTimes: false,
      finality: [{ upToPriceUnits: undefined, finality: { confirmations: index === 0 ? 1 : CONFIRMATIONS } }],
      finalityLag: { safe: 2, finalized: 9 },
      toleratedReorgDepth: index === 0 ? 0 : CONFIRMATIONS - 1,
      agreement: undefined,
      tokens: withMinimum(chain, 0n),
    }));
    const create = sceneCreate(0, { priceUnits: 900_000_000, oneTime: true });
    return { ...plan, ...shaped, creates: [...shaped.creates, create], wakeDelayMs: 6_000, chaosMs: 120_000 };
  },
  play: async (stage) => {
    const known = await stage.intent(0);
    if (known === undefined) return;
    let isOver = false;
    const paySmall = async () => {
      for (; !isOver; await stage.sleep(SMALL_MS)) stage.pay(known, 70_000n);
    };
    const small = paySmall();
    for (let tries = 0; tries < TRIES && stage.nowMs < stage.chaosMs; tries += 1) await payAndLose(stage, known);
    isOver = true;
    await small;
  },
};

/** The new branch has so many blocks that the lost payment would be final in it. */
async function payAndLose(stage: Stage, known: TrackedIntent): Promise<void> {
  const away = stage.otherChain(known);
  const chainTx = stage.payAcross(known, 5_000_000n);
  const seen = `select block_number from deposit where chain_tx = '${chainTx}' and status = 'seen'`;
  const isSeen = await stage.untilTrue(() => stage.rows(seen).length > 0, SEEN_PATIENCE_MS);
  const receipt = away.chain.receiptsOf(chainTx).find(({ blockHash }) => away.chain.isCanonical(blockHash));
  if (!isSeen || receipt === undefined) return;
  const depth = Number(away.chain.head.number - receipt.blockNumber) + 1;
  if (depth >= CONFIRMATIONS) return;
  stage.trace(`${away.plan.name} loses ${chainTx.slice(0, 8)}, ${depth} blocks deep`);
  stage.injector.replace(away, { depth, chainTx, longerBy: CONFIRMATIONS - depth + 1 });
  await stage.sleep(20_000);
}
