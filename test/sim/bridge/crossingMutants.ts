import { bridgeMutants } from "../../bridge/mutants.ts";
import type { Mutant } from "../mutant.ts";

/** Bugs that the road test finds as well. */
const SHARED = ["mint-counts-again", "payers-mint-is-ours", "bridge-is-free", "burn-not-recorded"];

const planted: readonly Mutant[] = [
  ...bridgeMutants
    .filter(({ name }) => SHARED.includes(name))
    .map(({ name, bug, patches }) => ({ name, bug, patches })),
  {
    name: "sweep-is-all-own",
    bug: "A sweep's settlement takes what a bridge gave for another one.",
    patches: [
      {
        path: "src/settlement/crossing/shareSweep.ts",
        search: "const ownUnits = movedUnits > mintedUnits ? movedUnits - mintedUnits : 0n;",
        replace: "const ownUnits = movedUnits > mintedUnits ? movedUnits : 0n;",
      },
    ],
  },
];

export const crossingMutants: readonly Mutant[] = planted.map((mutant) => ({ ...mutant, isBridged: true }));
