import type { Chain } from "../../chain/chain.ts";
import { ProviderFailed } from "../../chain/reader.ts";
import type { ChainConfig } from "../../config/config.ts";
import { isBlockTimeDifferent, measureBlockMs } from "../../watch/blockTime.ts";
import type { Finding } from "./finding.ts";

/** Compares the configured block time with a measured one. No finding where there is nothing to compare. */
export async function checkBlockTime({ name, estimates }: ChainConfig, { providers }: Chain): Promise<Finding[]> {
  const configuredMs = estimates?.blockMs;
  if (configuredMs === undefined) return [];
  try {
    const measuredMs = await measureBlockMs(providers, await providers.head("latest"));
    if (measuredMs === undefined) return [];
    const what = `${name}: block time`;
    const measured = `a block in ${Math.round(measuredMs)} ms`;
    if (!isBlockTimeDifferent(measuredMs, configuredMs)) return [{ what, verdict: "ok", found: measured }];
    const remedy = "set estimates.blockMs, and use seconds in finality";
    return [{ what, verdict: "warn", found: `${measured}, and ${configuredMs} ms are configured: ${remedy}` }];
  } catch (error) {
    if (error instanceof ProviderFailed) return [];
    throw error;
  }
}
