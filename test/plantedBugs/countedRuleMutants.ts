import type { Mutant } from "../sim/mutant.ts";

const TEST = "src/deposit/decision/countedRule.test.ts";

/** Decisions that count too early, which the check of the database must find. */
export const countedRuleMutants: readonly (Mutant & { test: string })[] = [
  {
    name: "counts-before-final",
    bug: "A deposit counts in any block.",
    test: TEST,
    patches: [
      {
        path: "src/deposit/decision/countFinal.ts",
        search: "final === undefined || deposit.block_number > final",
        replace: "final === undefined",
      },
    ],
  },
  {
    name: "counted-exposes-nothing",
    bug: "What counted is not part of the sum that selects the rule, although a reorganisation may still take it.",
    test: TEST,
    patches: [
      {
        path: "src/deposit/decision/exposure.ts",
        search: "isReceived(after) || isHeldForAgreement(after)",
        replace: '(isReceived(after) && after.status !== "counted") || isHeldForAgreement(after)',
      },
    ],
  },
];
