import { bridgeMutants } from "../bridge/mutants.ts";
import { askedAmountMutants } from "./askedAmountMutants.ts";
import { countedRuleMutants } from "./countedRuleMutants.ts";
import { senderMutants } from "./senderMutants.ts";
import { solanaMutants } from "../solana/mutants.ts";

/** Bugs that a test finds, beside those that the simulator finds. */
export const plantedBugs = [
  ...bridgeMutants,
  ...solanaMutants,
  ...askedAmountMutants,
  ...countedRuleMutants,
  ...senderMutants,
];
