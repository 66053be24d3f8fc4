import { CALL_GAS, usualCostUsd } from "../../config/operate/usualCosts.ts";
import type { ChainConfig, Config, TokenConfig } from "../../config/config.ts";
import { formatUnits } from "../../kernel/units.ts";
import type { Finding } from "./finding.ts";

const USD_DECIMALS = 6;

/**
 * Whether small payments of strangers cost the operator more than them, by the configured minimums and the usual price
 * of gas.
 */
export function checkMinimums({ config }: { config: Pick<Config, "chains"> }): Finding[] {
  return config.chains.flatMap((chain) =>
    chain.tokens.filter(({ bridge }) => bridge !== undefined).flatMap((token) => minimumFindings(chain, token)),
  );
}

function minimumFindings(chain: ChainConfig, token: TokenConfig): Finding[] {
  const what = `${chain.name}: minimums of ${token.symbol}`;
  const { usd } = chain.native;
  const [burnUsd, receiveUsd] = [CALL_GAS.burn, CALL_GAS.receive].map((gas) =>
    usualCostUsd(chain.chainId, { gas, usd: usd ?? "1" }),
  );
  // Coins of test networks cost nothing, and the gas of others is not known.
  if (burnUsd === undefined || receiveUsd === undefined) return [];
  if (usd === undefined) {
    const found = "native.usd is missing: only the minimums decide which crossings are received at once";
    return [{ what, verdict: "warn", found }];
  }
  const { minimumUnits, crossingMinimumUnits = 0n, decimals, isRail } = token;
  const low = [
    lowMinimum("minimumUnits", { units: minimumUnits, decimals, costUsd: burnUsd }),
    ...(isRail
      ? [lowMinimum("crossingMinimumUnits", { units: crossingMinimumUnits, decimals, costUsd: receiveUsd })]
      : []),
  ].flatMap((text) => text ?? []);
  return [
    low.length === 0
      ? { what, verdict: "ok", found: "above what small payments usually cost" }
      : { what, verdict: "warn", found: low.join("; ") },
  ];
}

function lowMinimum(
  key: string,
  { units, decimals, costUsd }: { units: bigint; decimals: number; costUsd: bigint },
): string | undefined {
  if (units * 10n ** BigInt(USD_DECIMALS) >= costUsd * 10n ** BigInt(decimals)) return undefined;
  return `${key} is ${formatUnits(units, decimals)}, and such a payment usually costs ${formatUnits(costUsd, USD_DECIMALS)} dollars of gas`;
}
