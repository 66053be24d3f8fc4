import type { AgreementPolicy } from "./config.ts";
import * as rules from "./rules.ts";
import { ConfigError, hasField, readSection, fieldPath, readField, type ConfigSection } from "./section.ts";

const AGREEMENT_KEYS = ["providers", "abovePriceUnits"] as const;
/** Two providers detect one faulty provider. With three URLs, one provider may be offline. */
const PROVIDERS_DEFAULT = 2;

/**
 * Reads how many providers must agree. URLs of one host count as one provider, because one operator controls them.
 * Returns undefined for a single host or `providers: 1`. The default for several hosts is 2.
 */
export function readAgreement(section: ConfigSection, rpcUrls: readonly string[]): AgreementPolicy | undefined {
  const hosts = new Set(rpcUrls.map((url) => new URL(url).host)).size;
  const path = fieldPath(section, "agreement");
  if (!hasField(section, "agreement")) {
    return hosts < PROVIDERS_DEFAULT ? undefined : { providers: PROVIDERS_DEFAULT, abovePriceUnits: 0n };
  }
  const agreement = readSection(section.fields["agreement"], { path, known: AGREEMENT_KEYS });
  const providers = readField(agreement, "providers", {
    ...rules.wholeNumber(1, 10),
    fallback: Math.min(PROVIDERS_DEFAULT, hosts),
  });
  if (providers > hosts) {
    throw new ConfigError(
      `${fieldPath(agreement, "providers")}: ${providers} providers cannot agree, because rpcUrls has ${hosts} ${hosts === 1 ? "host" : "hosts"}; add URLs of other hosts or lower it.`,
    );
  }
  const abovePriceUnits = readField(agreement, "abovePriceUnits", { ...rules.amount, fallback: 0n });
  return providers === 1 ? undefined : { providers, abovePriceUnits };
}
