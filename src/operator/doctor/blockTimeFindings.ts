import type { ChainSample } from "../../health/sampleChain.ts";
import { isBlockTimeDifferent } from "../../watch/blockTime.ts";
import type { Finding } from "./finding.ts";

/** Compares the configured block time with the measured one. No finding where there is nothing to compare. */
export function blockTimeFindings({ config: { name, estimates }, measuredBlockMs }: ChainSample): Finding[] {
  const configuredMs = estimates?.blockMs;
  if (configuredMs === undefined || measuredBlockMs === undefined) return [];
  const what = `${name}: block time`;
  const measured = `a block in ${Math.round(measuredBlockMs)} ms`;
  if (!isBlockTimeDifferent(measuredBlockMs, configuredMs)) return [{ what, verdict: "ok", found: measured }];
  const remedy = "set estimates.blockMs, and use seconds in finality";
  return [{ what, verdict: "warn", found: `${measured}, and ${configuredMs} ms are configured: ${remedy}` }];
}
