import { CALL_GAS, usualCostUsd, usualMinimums, usualUsd } from "../../src/config/operate/usualCosts.ts";
import { listKnownChains } from "../../src/config/knownChains.ts";

// What the operator spends for each dollar that a stranger spends on the smallest payments that are moved for
// themselves.

/** A transfer of the token to a new inbox, by the sender's wallet. */
const TRANSFER_GAS = 62_000n;
const UNITS_PER_DOLLAR = 1_000_000;

export type StrangerRatio = { way: string; operatorUsd: number; strangerUsd: number; ratio: number };

type Minimums = { minimumUnits: bigint; crossingMinimumUnits: bigint };

/** One line for each known real chain, and for each pair. `minimums`: other ones than those of `init`. */
export function listStrangerRatios(minimums?: Minimums): StrangerRatio[] {
  const chains = listKnownChains()
    .filter(({ isTestnet }) => !isTestnet)
    .flatMap(({ chainId, name }) => {
      const usd = usualUsd(chainId);
      if (usd === undefined) return [];
      const costOf = (gas: bigint) => Number(usualCostUsd(chainId, { gas, usd }) ?? 0n) / UNITS_PER_DOLLAR;
      return [{ name, costOf, ...(minimums ?? usualMinimums(chainId, usd)) }];
    });
  const own = chains.map(({ name, costOf, minimumUnits }) =>
    toRatio(`${name} itself`, {
      operatorUsd: costOf(CALL_GAS.settle),
      strangerUsd: Number(minimumUnits) / UNITS_PER_DOLLAR + costOf(TRANSFER_GAS),
    }),
  );
  const across = chains.flatMap((from) =>
    chains
      .filter((to) => to !== from)
      .map((to) => {
        const { minimumUnits } = from;
        const units = minimumUnits > to.crossingMinimumUnits ? minimumUnits : to.crossingMinimumUnits;
        return toRatio(`${from.name} to ${to.name}`, {
          operatorUsd: from.costOf(CALL_GAS.burn) + to.costOf(CALL_GAS.receive),
          strangerUsd: Number(units) / UNITS_PER_DOLLAR + from.costOf(TRANSFER_GAS),
        });
      }),
  );
  return [...own, ...across];
}

function toRatio(way: string, { operatorUsd, strangerUsd }: Omit<StrangerRatio, "way" | "ratio">): StrangerRatio {
  return { way, operatorUsd, strangerUsd, ratio: operatorUsd / strangerUsd };
}
