import { sceneCreate, shapeChains, CHAIN_FAULTS, type Scene } from "./scene.ts";

// Where balances show the deposits: strangers pay inboxes whose transfers no provider lists for a while, before an
// honest payer pays another one.

const STRANGE = 8;
const HONEST = STRANGE;
const UNSEARCHABLE_MS = 1_200_000;
const FOUND_MS = 700_000;

export const unsearchableInboxes: Scene = {
  name: "unsearchableInboxes",
  calm: [...CHAIN_FAULTS, "unreadablePayment", "logsHidden", "clockStep"],
  shape: (plan) => {
    const shaped = shapeChains(plan, 1, () => ({ kind: "oneShot", isReadByAccounts: true }));
    const creates = Array.from({ length: STRANGE + 1 }, (_, index) => sceneCreate(index));
    return { ...plan, ...shaped, creates: [...shaped.creates, ...creates], slowdown: 6 };
  },
  play: async (stage) => {
    for (let index = 0; index < STRANGE; index += 1) {
      const known = await stage.intent(index);
      const unsearchable = known?.chain.nodes[0]?.unreadable.inboxes;
      if (known === undefined || unsearchable === undefined) continue;
      unsearchable.set(known.row.inbox_address, stage.chaosMs + UNSEARCHABLE_MS);
      stage.pay(known, 1_000_000n);
    }
    const honest = await stage.intent(HONEST);
    await stage.sleepUntil(stage.chaosMs + 10_000);
    if (honest === undefined) return;
    const chainTx = stage.pay(honest, 5_000_000n);
    const isFound = () => stage.rows(`select from movement where chain_tx = '${chainTx}'`).length > 0;
    if (!(await stage.untilTrue(isFound, FOUND_MS)))
      stage.violate("inboxes whose transfers cannot be read hide the payment of another one", honest.row.id);
  },
};
