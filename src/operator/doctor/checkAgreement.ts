import type { Chain } from "../../chain/chain.ts";
import type { ChainConfig } from "../../config/config.ts";
import { countHeldForAgreement } from "../../deposit/agreement/verificationStore.ts";
import { formatUnits, PRICE_DECIMALS } from "../../kernel/units.ts";
import { pollProviders, type ProviderComparison } from "../../watch/providers/pollProviders.ts";
import { findCursor } from "../../watch/store/store.ts";
import type { World } from "../../world.ts";
import type { Finding } from "./finding.ts";

/**
 * Checks the agreement policy of a chain, compares each provider with the recorded chain, and counts deposits held for
 * disagreement.
 */
export async function checkAgreement(world: World, config: ChainConfig, chain: Chain): Promise<Finding[]> {
  const cursor = await findCursor(world.db, config.caip2);
  const views = cursor === undefined ? [] : await pollProviders(world, chain, cursor);
  const held = (await countHeldForAgreement(world.db)).filter((each) => each.chain === config.caip2);
  return [
    agreementFinding(config, chain),
    ...(chain.providers.providerCount > 1 ? [providersFinding(config, chain, views)] : []),
    ...held.map(({ reason, count }): Finding => {
      return { what: `${config.name}: deposits held`, verdict: "fail", found: `${count}, for ${reason}` };
    }),
  ];
}

/** Describes in one sentence how many providers must agree. */
export function describeAgreement({ agreement, rpcUrls }: ChainConfig): string {
  if (agreement === undefined) {
    return rpcUrls.length < 2
      ? "one provider suffices: add a URL of another host to rpcUrls"
      : "one provider suffices, because agreement.providers is 1 or all URLs have one host";
  }
  const limit = formatUnits(agreement.abovePriceUnits, PRICE_DECIMALS);
  const counting =
    agreement.abovePriceUnits === 0n ? "before a deposit counts" : `before an intent counts more than ${limit}`;
  return `${agreement.providers} of ${rpcUrls.length} providers must agree ${counting}, and before every settlement`;
}

function agreementFinding(config: ChainConfig, chain: Chain): Finding {
  const what = `${config.name}: agreement`;
  const { agreement } = config;
  if (agreement !== undefined && agreement.providers > chain.providers.providerCount) {
    const found = `${agreement.providers} providers must agree, but only ${chain.providers.providerCount} are available: no deposit counts`;
    return { what, verdict: "fail", found };
  }
  return { what, verdict: agreement === undefined ? "warn" : "ok", found: describeAgreement(config) };
}

function providersFinding(config: ChainConfig, chain: Chain, views: readonly ProviderComparison[]): Finding {
  const what = `${config.name}: providers`;
  const disagreeing = views.filter(({ kind }) => kind !== "agrees");
  const silent = chain.providers.providerCount - views.length;
  if (disagreeing.length === 0 && silent === 0) return { what, verdict: "ok", found: `all ${views.length} agree` };
  const found = [
    ...disagreeing.map(({ provider, kind, head }) => `${provider} ${kind} at block ${head.number}`),
    ...(silent === 0 ? [] : [`${silent} of ${chain.providers.providerCount} did not answer`]),
  ];
  const isFailure = disagreeing.some(({ kind }) => kind === "differs");
  return { what, verdict: isFailure ? "fail" : "warn", found: found.join("; ") };
}
