import { bridgeAbi } from "../chain/bridge.ts";
import { payerAddress } from "../simWorld.ts";
import { encodeFunctionData, type Hex } from "viem";
import { sceneCreate, shapeBridged, withMinimum, BRIDGE_FAULTS, CHAIN_FAULTS, type Scene } from "./scene.ts";

// The providers of the payment's chain are away for hours. Meanwhile a stranger bridges the inbox and receives for it,
// so that its settle chain shows money that nothing explains.

const UNITS = 9_000_000n;
const AWAY_MS = 4 * 3_600_000;
const SETTLED_MS = 3 * 3_600_000;
const PATIENCE_MS = 600_000;

export const unknownBurn: Scene = {
  name: "unknownBurn",
  isBridged: true,
  calm: [...BRIDGE_FAULTS, ...CHAIN_FAULTS, "logsHidden", "clockStep", "feeSpike", "gasEmpty", "inboxBlocked"],
  shape: (plan) => {
    const shaped = shapeBridged(plan, (chain) => ({ settleAfterMs: 0, tokens: withMinimum(chain, 0n) }));
    return { ...plan, ...shaped, creates: [...shaped.creates, sceneCreate(0)], slowdown: 6 };
  },
  play: async (stage) => {
    const known = await stage.intent(0);
    const bridge = known && stage.actors.bridge.bridgeCall(known, { isFast: false });
    const { attestation } = stage.simWorld;
    if (known === undefined || bridge === undefined || attestation === undefined) return;
    const origin = stage.otherChain(known);
    for (const node of origin.nodes) node.awayUntilMs = stage.nowMs + AWAY_MS;
    stage.trace(`the providers of ${origin.plan.name} are away`);
    // After what was asked before.
    await stage.sleep(1_000);
    const paid = stage.payAcross(known, UNITS);
    await stage.untilTrue(() => origin.chain.receiptsOf(paid).length > 0, PATIENCE_MS);
    const burn = origin.chain.send({ from: payerAddress(1), calls: [bridge] });
    const domain = origin.chain.bridge?.domain ?? 0;
    const findProof = () => attestation.service.messagesOf(domain, burn).find(({ status }) => status === "complete");
    const proof = await stage.until(findProof, PATIENCE_MS);
    if (proof === undefined) return;
    const args = [proof.message as Hex, proof.attestation as Hex] as const;
    const data = encodeFunctionData({ abi: bridgeAbi, functionName: "receiveMessage", args });
    known.chain.chain.send({
      from: payerAddress(2),
      calls: [{ to: known.chain.chain.bridge?.transmitter ?? "", data }],
    });
    const held = () => known.chain.chain.unitsOf(known.row.payout_token, known.row.inbox_address);
    if (!(await stage.untilTrue(() => held() > 0n, PATIENCE_MS))) return;
    stage.trace(`a stranger received ${held()} for ${known.row.id.slice(0, 8)}`);
    if (!(await stage.untilTrue(() => held() === 0n, SETTLED_MS)))
      stage.violate("money that nothing explains stays in its inbox", known.row.id);
  },
};
