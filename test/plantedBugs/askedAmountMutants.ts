import type { Mutant } from "../sim/mutant.ts";

const TEST = "src/http/checkout/state/remaining.test.ts";

/** Bugs of what a payer is asked for, each with the test that must fail because of it. */
export const askedAmountMutants: readonly (Mutant & { test: string })[] = [
  {
    name: "dust-is-taken-off-twice",
    bug: "Small transfers that wait are taken off the price twice, so that the page asks for too little.",
    test: TEST,
    patches: [
      {
        path: "src/http/checkout/state/buildState.ts",
        search: "const remaining = remainingUnits(intent);",
        replace:
          "const remaining = remainingUnits({ ...intent, received_units: intent.received_units + row.waitingUnits });",
      },
    ],
  },
  {
    name: "late-money-is-paid",
    bug: "A cancelled order that is then paid in full is shown as paid.",
    test: TEST,
    patches: [
      {
        path: "src/http/checkout/state/stage.ts",
        search: "counted_units: intent.counted_units - intent.late_units",
        replace: "counted_units: intent.counted_units",
      },
    ],
  },
  {
    name: "held-money-is-asked-for-again",
    bug: "What is held until providers agree is asked for again.",
    test: TEST,
    patches: [
      {
        path: "src/intent/progress/remainingUnits.ts",
        search: "return intent.received_units + intent.agreement_units;",
        replace: "return intent.received_units;",
      },
    ],
  },
  {
    name: "tolerance-is-forgotten",
    bug: "A payer within the tolerance is still asked for the rest.",
    test: "src/intent/progress/remainingUnits.test.ts",
    patches: [
      {
        path: "src/intent/progress/remainingUnits.ts",
        search: "isPriceReached(price, toleranceBps, arrived)",
        replace: "isPriceReached(price, 0 * toleranceBps, arrived)",
      },
    ],
  },
];
