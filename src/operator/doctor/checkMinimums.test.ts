import assert from "node:assert/strict";
import { test } from "node:test";
import { bridgedChains } from "../../../test/support/bridgedConfig.ts";
import type { EvmChainConfig } from "../../config/config.ts";
import { usualMinimums } from "../../config/operate/usualCosts.ts";
import { checkMinimums } from "./checkMinimums.ts";

// The first chain is Ethereum's, where coins cost money; the second is a test network.

const USD = "3000";

function findingsOf(token: Partial<EvmChainConfig["tokens"][number]>, usd: string | undefined = USD) {
  const chains = bridgedChains(10_000n, [1, 84_532]).map((chain) => ({
    ...chain,
    native: { ...chain.native, ...(usd !== "" && { usd }) },
    tokens: chain.tokens.slice(0, 1).map((own) => ({ ...own, ...token })),
  }));
  return checkMinimums({ config: { chains } });
}

test("minimums below what small payments cost are warned of, and those that init writes are not", () => {
  const low = findingsOf({ minimumUnits: 10_000n, crossingMinimumUnits: 10_000n });
  assert.deepEqual(
    low.map(({ what, verdict }) => [what, verdict]),
    [["Local 0: minimums of USDC", "warn"]],
    "coins of test networks cost nothing",
  );
  assert.match(
    low[0]?.found ?? "",
    /^minimumUnits is 0\.01, and such a payment usually costs 1\.1328 dollars of gas; crossingMinimumUnits is 0\.01, .* 1\.476 /,
  );
  const written = findingsOf(usualMinimums(1, USD));
  assert.deepEqual(
    written.map(({ verdict }) => verdict),
    ["ok"],
  );
});

test("only the minimum that is too low is named, and a chain that no payout crosses to needs none for crossings", () => {
  const { minimumUnits } = usualMinimums(1, USD);
  const [crossing] = findingsOf({ minimumUnits, crossingMinimumUnits: 10_000n });
  assert.match(crossing?.found ?? "", /^crossingMinimumUnits is 0\.01, [^;]*$/);
  const [origin] = findingsOf({ minimumUnits, crossingMinimumUnits: 10_000n, isRail: false });
  assert.equal(origin?.verdict, "ok");
});

test("a missing price of the native coin is warned of", () => {
  const found = findingsOf(usualMinimums(1, USD), "").map(({ verdict, found: text }) => [verdict, text.split(":")[0]]);
  assert.deepEqual(found, [["warn", "native.usd is missing"]]);
});
