import type { Mutant } from "../sim/mutant.ts";

const TEST = "src/deposit/decide/countedRule.test.ts";

/** Decisions that count too early, which the check of the database must find. */
export const countedRuleMutants: readonly (Mutant & { test: string })[] = [
  {
    name: "counts-before-final",
    bug: "A deposit counts in any block.",
    test: TEST,
    patches: [
      {
        path: "src/deposit/decide/countFinal.ts",
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
        path: "src/deposit/decide/exposure.ts",
        search: "isReceived(after) || isHeldForAgreement(after)",
        replace: '(isReceived(after) && after.status !== "counted") || isHeldForAgreement(after)',
      },
    ],
  },
];
