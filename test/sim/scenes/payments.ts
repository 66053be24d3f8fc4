import { sceneCreate, shapeChains, CHAIN_FAULTS, type Scene } from "./scene.ts";

/** An order is cancelled, then paid in full, and its payer looks at the page. */
export const lateMoney: Scene = {
  name: "lateMoney",
  calm: ["deepReorg"],
  shape: (plan) => {
    const create = sceneCreate(0, {
      priceUnits: 7_000_003,
      oneTime: true,
      archiveAfterMs: 1_000,
      pays: [
        [40_000, "right"],
        [41_000, "asked"],
      ],
    });
    return { ...plan, creates: [...plan.creates, create] };
  },
};

/** On a chain without logs, a stranger settles between two payments of one transaction. */
export const settledBetween: Scene = {
  name: "settledBetween",
  calm: CHAIN_FAULTS,
  shape: (plan) => {
    const shaped = shapeChains(plan, 1, () => ({ kind: "oneShot", settleAfterMs: 0 }));
    const creates = [0, 1].map((index) =>
      sceneCreate(index, {
        ...(index === 0 && { priceUnits: 9_000_009, oneTime: true }),
        isViewed: true,
        pays: [[2_000, "settledBetween"]],
      }),
    );
    return { ...plan, ...shaped, creates: [...shaped.creates, ...creates] };
  },
};
