import { deepEqual, equal, ok } from "node:assert/strict";
import { test } from "node:test";
import { ISSUER_GAS } from "../../../contracts/scripts/gasBridge.ts";
import gas from "../../../contracts/gas.json" with { type: "json" };
import { listStrangerRatios } from "../../../test/support/strangerRatios.ts";
import { CALL_GAS, usualCostUsd, usualMinimums } from "./usualCosts.ts";

test("the gas that minimums cover is the most that was measured", () => {
  const { burnFirst, receiveFastFirst } = ISSUER_GAS;
  deepEqual(
    [CALL_GAS.settle, CALL_GAS.burn, CALL_GAS.receive],
    [BigInt(gas.settleFirst), BigInt(burnFirst), BigInt(receiveFastFirst)],
  );
});

test("a dollar of a stranger costs the operator less than a dollar, with the minimums of init, on every pair of known chains", () => {
  const ratios = listStrangerRatios();
  ok(ratios.length > 40);
  for (const { way, ratio } of ratios) ok(ratio < 1, `${way}: ${ratio}`);
});

test("a cent paid on Base for a payout on Ethereum, the old minimum, costs about a hundred times what it costs its sender", () => {
  const [ratio] = listStrangerRatios({ minimumUnits: 10_000n, crossingMinimumUnits: 0n }).filter(
    ({ way }) => way === "Base to Ethereum",
  );
  ok(ratio !== undefined && ratio.ratio > 90, String(ratio?.ratio));
});

test("minimums are whole cents, at least one, and one where coins cost nothing", () => {
  equal(usualCostUsd(1, { gas: 246_000n, usd: "3000" }), 1_476_000n);
  deepEqual(usualMinimums(1, "3000"), { minimumUnits: 2_270_000n, crossingMinimumUnits: 2_960_000n });
  const cent = { minimumUnits: 10_000n, crossingMinimumUnits: 10_000n };
  deepEqual([usualMinimums(84_532, "3000"), usualMinimums(1, undefined)], [cent, cent]);
});
