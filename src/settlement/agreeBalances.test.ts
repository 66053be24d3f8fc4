import { equal } from "node:assert/strict";
import { test } from "node:test";
import { doubt } from "./agreeBalances.ts";

const of = { needed: 2, countedUnits: 10n };

test("an inbox is swept when enough tell at least what was counted, and more than tell less", () => {
  equal(doubt([10n, 11n], of), undefined);
  equal(doubt([10n, 0n, 10n], of), undefined);
  equal(doubt([10n, 10n, 0n, 0n], of), "provider_disagreement");
});

test("one who tells alone is not enough, whatever the others' reason", () => {
  equal(doubt([10n, undefined, undefined], of), "provider_agreement_pending");
  equal(doubt([10n, 9n], of), "provider_disagreement");
  equal(doubt([9n, 9n], of), "balance_below_counted");
});
