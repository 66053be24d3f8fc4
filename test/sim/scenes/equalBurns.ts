import { sceneCreate, shapeBridged, withMinimum, BRIDGE_FAULTS, CHAIN_FAULTS, type Scene } from "./scene.ts";

// Two equal burns of one inbox. The bridge's service answers the first with the proof of the second once, and is honest
// afterwards.

const UNITS = 9_000_000n;
const BURNT_PATIENCE_MS = 240_000;
const LANDED_PATIENCE_MS = 3_600_000;

export const equalBurns: Scene = {
  name: "equalBurns",
  isBridged: true,
  calm: [...BRIDGE_FAULTS, ...CHAIN_FAULTS, "attestationUnseen", "attestationTimeout", "attestationError", "gasEmpty"],
  shape: (plan) => {
    const shaped = shapeBridged(plan, (chain) => ({ settleAfterMs: 0, tokens: withMinimum(chain, 0n) }));
    return { ...plan, ...shaped, creates: [...shaped.creates, sceneCreate(0)], slowdown: 6 };
  },
  play: async (stage) => {
    const known = await stage.intent(0);
    const { attestation } = stage.simWorld;
    if (known === undefined || attestation === undefined) return;
    const { service } = attestation;
    service.delay = { reason: null, untilMs: stage.nowMs + 3 * BURNT_PATIENCE_MS };
    for (const burns of [1, 2]) {
      stage.payAcross(known, UNITS);
      await stage.untilTrue(() => stage.crossingsOf(known).length === burns, BURNT_PATIENCE_MS);
    }
    const [first, second] = stage.crossingsOf(known);
    const domain = stage.otherChain(known).chain.bridge?.domain ?? 0;
    if (first !== undefined && second !== undefined && first.chain_tx !== second.chain_tx) {
      stage.trace(`the service mistakes ${first.chain_tx.slice(0, 8)} for ${second.chain_tx.slice(0, 8)}`);
      attestation.mistakes.set(`${domain}/${first.chain_tx}`, second.chain_tx);
    }
    service.delay = { reason: null, untilMs: stage.nowMs };
    await stage.sleepUntil(stage.chaosMs);
    const areLanded = () => stage.crossingsOf(known).every(({ status }) => status === "landed");
    if (!(await stage.untilTrue(areLanded, LANDED_PATIENCE_MS)))
      stage.violate("a burn whose proof another one holds does not land", known.row.id);
  },
};
