import { sceneCreate, shapeChains, CHAIN_FAULTS, type Scene } from "./scene.ts";

// The first of three providers shows the sweeps of paid inboxes as those of inboxes that nobody paid.

export const lyingSweeps: Scene = {
  name: "lyingSweeps",
  calm: [...CHAIN_FAULTS, "liar", "nodeContradicts", "providerDown"],
  shape: (plan) => {
    const shaped = shapeChains(plan, 1, () => ({
      kind: "evm",
      providers: 3,
      agreement: { providers: 2, abovePriceUnits: 0n },
      settleAfterMs: 0,
    }));
    const creates = [0, 1, 2, 3].map((index) =>
      sceneCreate(index, { pays: index % 2 === 0 ? [[3_000, "right"]] : [] }),
    );
    return { ...plan, ...shaped, creates: [...shaped.creates, ...creates], chaosMs: 120_000 };
  },
  play: async (stage) => {
    const [chain] = stage.simWorld.chains;
    const [liar] = chain?.nodes ?? [];
    const [token] = chain?.tokens ?? [];
    if (chain === undefined || liar === undefined || token === undefined) return;
    liar.forgery = { inboxes: () => stage.injector.listInboxes(chain), token: token.address, onlySweeps: true };
  },
};
