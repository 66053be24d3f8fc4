import type { ChainConfig } from "../config/config.ts";
import type { Chain } from "./chain.ts";
import { ProviderFailed } from "./reader.ts";
import { ChainMismatch } from "./providers.ts";

/** `unreachable`: no provider answered, so the caller verifies again later. */
export type ChainVerification = "verified" | "unreachable";

/**
 * Compares a chain's configuration with the chain: its id, its tokens' decimals and the settling requirements. An
 * unreachable chain is no error. @throws ChainMismatch with one sentence when something differs.
 */
export async function verifyChain(config: ChainConfig, chain: Chain): Promise<ChainVerification> {
  try {
    await chain.providers.verify();
    for (const token of config.tokens) await verifyToken(config, chain, token);
    await chain.sender.verify(config);
    return "verified";
  } catch (error) {
    if (!(error instanceof ProviderFailed)) throw error;
    chain.providers.warn({
      key: "verify",
      fields: { err: error },
      message: `${config.name} does not answer: its configuration is verified later`,
    });
    return "unreachable";
  }
}

async function verifyToken(config: ChainConfig, chain: Chain, token: ChainConfig["tokens"][number]): Promise<void> {
  const decimals = await chain.providers.tokenDecimals(token.address);
  if (decimals === token.decimals) return;
  const mismatch =
    decimals === undefined
      ? "is no token there"
      : `has ${decimals} decimals there, and ${token.decimals} are configured`;
  throw new ChainMismatch(`${config.name} (${config.caip2}): ${token.symbol} at ${token.address} ${mismatch}.`);
}
