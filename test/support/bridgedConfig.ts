import type { EvmChainConfig } from "../../src/config/config.ts";
import { caip2 } from "../../src/kernel/caip.ts";
import { TEST_TOKEN } from "./intents.ts";
import { TEST_CHAIN_CONFIG } from "./stationWorld.ts";

/** Chain ids of the configuration below; the first is that of TEST_CHAIN_CONFIG. */
export const BRIDGED_CHAIN_IDS = [31_337, 31_338, 31_339] as const;
export const MESSENGER = "0x00000000000000000000000000000000000ce55e";
const TRANSMITTER = "0x00000000000000000000000000000000007ca257";

/** Chains whose USDC crosses by CCTP between all of them. The domain of each is its index. */
export function bridgedChains(minimumUnits = 10_000n, ids: readonly number[] = BRIDGED_CHAIN_IDS): EvmChainConfig[] {
  return ids.map((chainId, domain) => ({
    ...TEST_CHAIN_CONFIG,
    caip2: caip2("eip155", String(chainId)),
    chainId,
    name: `Local ${domain}`,
    slug: domain === 0 ? "local" : `local${domain}`,
    cctp: { domain, messenger: MESSENGER, transmitter: TRANSMITTER },
    tokens: TEST_CHAIN_CONFIG.tokens.map((token) => ({
      ...token,
      address: TEST_TOKEN,
      minimumUnits,
      bridge: "cctp-v2",
    })),
  }));
}
