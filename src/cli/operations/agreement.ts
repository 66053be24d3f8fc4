import type { Chain } from "../../chain/chain.ts";
import type { ChainConfig } from "../../config.ts";
import { countHeldForAgreement } from "../../deposit/store.ts";
import { formatUnits, PRICE_DECIMALS } from "../../kernel/units.ts";
import { hearOpinions, type Opinion } from "../../watch/opinions.ts";
import { findCursor } from "../../watch/store.ts";
import type { World } from "../../world.ts";
import type { Finding } from "./finding.ts";

/** How many providers a chain believes, what each thinks of the chain as it was recorded, and what waits because they differ. */
export async function examineAgreement(world: World, config: ChainConfig, chain: Chain): Promise<Finding[]> {
  const cursor = await findCursor(world.db, config.caip2);
  const opinions = cursor === undefined ? [] : await hearOpinions(world, chain, cursor);
  const held = (await countHeldForAgreement(world.db)).filter((each) => each.chain === config.caip2);
  return [
    ruleFinding(world, config, chain),
    ...(chain.providers.size > 1 ? [opinionFinding(config, chain, opinions)] : []),
    ...held.map(({ reason, count }): Finding => {
      return { what: `${config.name}: deposits held`, verdict: "wrong", found: `${count}, for ${reason}` };
    }),
  ];
}

/** One sentence about who is believed. */
export function agreementInWords({ agreement, rpcUrls }: ChainConfig): string {
  if (agreement === undefined) {
    return rpcUrls.length < 2
      ? "one provider is believed in everything: add a second URL, of another host, to rpcUrls"
      : "each provider is believed by itself, because agreement.providers is 1 or all are of one host";
  }
  const limit = formatUnits(agreement.abovePriceUnits, PRICE_DECIMALS);
  const counting =
    agreement.abovePriceUnits === 0n ? "before anything counts" : `before an intent counts more than ${limit}`;
  return `${agreement.providers} of ${rpcUrls.length} must agree ${counting}, and before anything is settled`;
}

function ruleFinding(world: World, config: ChainConfig, chain: Chain): Finding {
  const what = `${config.name}: agreement`;
  const { agreement } = config;
  if (agreement !== undefined && agreement.providers > chain.providers.size) {
    const found = `${agreement.providers} providers must agree, and there are ${chain.providers.size}: nothing will be counted`;
    return { what, verdict: "wrong", found };
  }
  // Where no real money is, one provider is what everybody has.
  const isRisk = agreement === undefined && world.config.environment === "live";
  return { what, verdict: isRisk ? "attention" : "right", found: agreementInWords(config) };
}

function opinionFinding(config: ChainConfig, chain: Chain, opinions: readonly Opinion[]): Finding {
  const what = `${config.name}: providers`;
  const odd = opinions.filter((opinion) => opinion.kind !== "agrees");
  const silent = chain.providers.size - opinions.length;
  if (odd.length === 0 && silent === 0)
    return { what, verdict: "right", found: `all ${opinions.length} tell the same chain` };
  const found = [
    ...odd.map(({ provider, kind, head }) => `${provider} ${kind} at block ${head.number}`),
    ...(silent === 0 ? [] : [`${silent} of ${chain.providers.size} did not answer`]),
  ];
  const isWrong = odd.some((opinion) => opinion.kind === "differs");
  return { what, verdict: isWrong ? "wrong" : "attention", found: found.join("; ") };
}
