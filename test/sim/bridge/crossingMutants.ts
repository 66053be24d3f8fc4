import { bridgeMutants } from "../../bridge/mutants.ts";
import type { Mutant } from "../mutant.ts";

/** Bugs that a test of the road finds as well, each with the scene in which it shows. */
const SHARED: Readonly<Record<string, string | undefined>> = {
  "mint-counts-again": undefined,
  "payers-mint-is-ours": undefined,
  "bridge-is-free": undefined,
  "burn-not-recorded": undefined,
  "expired-proof-stays": undefined,
  "small-burns-in-time": "smallBurns",
  "burns-asked-one-by-one": "smallBurns",
  "swapped-proof-stays": "equalBurns",
  "unknown-mint-stays": "unknownBurn",
  "suspense-lands-twice": "unknownBurn",
};

const planted: readonly Mutant[] = [
  ...bridgeMutants
    .filter(({ name }) => name in SHARED)
    .map(({ name, bug, patches }) => ({ name, bug, patches, ...sceneOf(name) })),
  {
    name: "proof-not-renewed",
    bug: "The service of a bridge is asked for an expired proof again, and not for a new one.",
    patches: [
      {
        path: "src/bridge/trackCrossings.ts",
        search: "first?.crossing.reason === EXPIRED &&",
        replace: "first !== undefined && first.crossing.attempts < 0 &&",
      },
    ],
  },
  {
    name: "one-settlement-of-two-burns",
    bug: "All burns of an inbox in one transaction are one settlement.",
    patches: [
      {
        path: "src/settlement/settlement.ts",
        search: "isEnded = isBurn(leg);",
        replace: "isEnded = false;",
      },
    ],
  },
  {
    name: "rest-forgotten",
    bug: "What a burn leaves in its inbox waits for the next deposit.",
    patches: [
      {
        path: "src/settlement/observe/sweepObservation.ts",
        search: "await refreshRemainders(tx, [...this.#inboxes.values()]);",
        replace: "await refreshRemainders(tx, []);",
      },
    ],
  },
  {
    name: "sweep-is-all-own",
    bug: "A sweep's settlement takes what a bridge gave for another one.",
    patches: [
      {
        path: "src/settlement/shareSweep.ts",
        search: "const ownUnits = movedUnits > mintedUnits ? movedUnits - mintedUnits : 0n;",
        replace: "const ownUnits = movedUnits > mintedUnits ? movedUnits : 0n;",
      },
    ],
  },
];

export const crossingMutants: readonly Mutant[] = planted.map((mutant) => ({ ...mutant, isBridged: true }));

function sceneOf(name: string): Pick<Mutant, "scene"> {
  const scene = SHARED[name];
  return scene === undefined ? {} : { scene };
}
