import type { Hex } from "@tributary/inbox/terms";
import { tokenCalls } from "../chain/token.ts";
import { payerAddress } from "../simWorld.ts";
import { sceneCreate, shapeBridged, withMinimum, BRIDGE_FAULTS, CHAIN_FAULTS, type Scene } from "./scene.ts";

// A stranger pays an inbox two smallest units and bridges it, again and again. What an honest payer pays then crosses
// as ever.

/** As many as fit the gas of a transaction. */
const BURNS_PER_TRANSACTION = 90;
const HONEST_UNITS = 9_000_000n;
const PATIENCE_MS = 3 * 3_600_000;

export const smallBurns: Scene = {
  name: "smallBurns",
  isBridged: true,
  calm: [...BRIDGE_FAULTS, ...CHAIN_FAULTS, "feeSpike", "gasEmpty"],
  shape: (plan) => {
    const shaped = shapeBridged(plan, (chain) => ({
      settleAfterMs: 0,
      repeatsTimes: false,
      blockMs: Math.max(chain.blockMs, 2_000),
      tokens: withMinimum(chain, 50_000n),
    }));
    return { ...plan, ...shaped, creates: [...shaped.creates, sceneCreate(0), sceneCreate(1)] };
  },
  play: async (stage) => {
    const [target, honest] = [await stage.intent(0), await stage.intent(1)];
    const bridge = target && stage.actors.bridge.bridgeCall(target, { isFast: false });
    if (target === undefined || honest === undefined || bridge === undefined) return;
    const origin = stage.otherChain(target);
    const token = origin.chain.bridge?.token as Hex;
    const pay = { to: token, data: tokenCalls.transfer(target.row.inbox_address, 2n) };
    stage.trace(`burns two units ${BURNS_PER_TRANSACTION} times`);
    const calls = Array.from({ length: BURNS_PER_TRANSACTION }, () => [pay, bridge]).flat();
    origin.chain.send({ from: payerAddress(0), calls });
    const areRecorded = () => stage.crossingsOf(target).length > BURNS_PER_TRANSACTION / 2;
    await stage.untilTrue(areRecorded, PATIENCE_MS);
    await stage.untilTrue(() => (stage.simWorld.parts.database.replan(), true), PATIENCE_MS);
    await stage.sleepUntil(stage.chaosMs);
    stage.payAcross(honest, HONEST_UNITS);
    const isLanded = () => stage.crossingsOf(honest).some(({ status }) => status === "landed");
    if (!(await stage.untilTrue(isLanded, PATIENCE_MS)))
      stage.violate("small burns of a stranger keep a payment from crossing", honest.row.id);
  },
};
