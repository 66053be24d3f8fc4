import type { Mutant } from "../sim/mutant.ts";

/** Faults of the sender that seeds seldom meet: blocks of a scripted chain are rarely full for long enough. */
export const senderMutants: readonly (Mutant & { test: string })[] = [
  {
    name: "no-better-pay",
    bug: "A stuck transaction never gets a higher fee.",
    test: "src/chain/evm/send/processOutgoingTransactions.test.ts",
    patches: [
      {
        path: "src/chain/evm/send/processOutgoingTransactions.ts",
        search: "isOurs && isStuck(world, outgoing) ?",
        replace: "isOurs && world === undefined ?",
      },
    ],
  },
];
