import { equal } from "node:assert/strict";
import { test } from "node:test";
import { balanceDisagreement } from "./findBalanceDisagreements.ts";

const expected = { needed: 2, countedUnits: 10n };

test("an inbox is swept when enough providers confirm the counted balance, and more than report less", () => {
  equal(balanceDisagreement([10n, 11n], expected), undefined);
  equal(balanceDisagreement([10n, 0n, 10n], expected), undefined);
  equal(balanceDisagreement([10n, 10n, 0n, 0n], expected), "provider_disagreement");
});

test("a single answer is not enough, whatever the others' reason", () => {
  equal(balanceDisagreement([10n, undefined, undefined], expected), "provider_agreement_pending");
  equal(balanceDisagreement([10n, 9n], expected), "provider_disagreement");
  equal(balanceDisagreement([9n, 9n], expected), "balance_below_counted");
});
