import { hubAddress } from "@tributary/inbox/hub";
import type { Logger } from "pino";
import type { ChainConfig } from "../config/config.ts";
import type { Chain } from "./chain.ts";
import { CallReverted, ProviderFailed } from "./driver.ts";
import { ChainMismatch } from "./providers.ts";

/** Whether the chain was asked, or could not be: then somebody asks again when it answers. */
export type ChainVerification = "verified" | "unreachable";

/**
 * Compares what is configured of a chain with the chain itself: its id, its tokens' decimals, the hub that sweeps the inboxes.
 * A chain that does not answer is no mistake.
 * @throws ChainMismatch with one sentence when something differs.
 */
export async function verifyChain(config: ChainConfig, chain: Chain, log: Logger): Promise<ChainVerification> {
  try {
    await chain.providers.verify();
    for (const token of config.tokens) await verifyToken(config, chain, token);
    if (!(await chain.providers.hasCode(hubAddress))) {
      throw new ChainMismatch(
        `${config.name} has no hub at ${hubAddress}, and without it no deposit there can be settled: put it there with "tributary hub deploy".`,
      );
    }
    return "verified";
  } catch (error) {
    if (!(error instanceof ProviderFailed)) throw error;
    log.warn(
      { chain: config.caip2, err: error },
      `${config.name} does not answer: it is compared with the configuration later`,
    );
    return "unreachable";
  }
}

async function verifyToken(config: ChainConfig, chain: Chain, token: ChainConfig["tokens"][number]): Promise<void> {
  const decimals = await fetchDecimals(chain, token.address);
  if (decimals === token.decimals) return;
  const mismatch =
    decimals === undefined
      ? "is no token there"
      : `has ${decimals} decimals there, and ${token.decimals} are configured`;
  throw new ChainMismatch(`${config.name} (${config.caip2}): ${token.symbol} at ${token.address} ${mismatch}.`);
}

async function fetchDecimals(chain: Chain, token: string): Promise<number | undefined> {
  try {
    // An address without code answers a call with nothing, which no provider could be blamed for.
    return (await chain.providers.hasCode(token)) ? await chain.providers.tokenDecimals(token) : undefined;
  } catch (error) {
    if (error instanceof CallReverted) return undefined;
    throw error;
  }
}
