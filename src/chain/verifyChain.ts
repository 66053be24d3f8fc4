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
    for (const message of await compareSymbols(config, chain))
      chain.providers.warn({ key: message, fields: {}, message });
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

/**
 * A sentence for each token that calls itself differently on the chain. Decimals say nothing of which token an address
 * is.
 */
export async function compareSymbols({ name, tokens }: ChainConfig, { providers }: Chain): Promise<string[]> {
  const sentences: string[] = [];
  for (const { symbol, address } of tokens) {
    const found = await providers.tokenSymbol(address);
    if (found === undefined || plainSymbol(found) === plainSymbol(symbol)) continue;
    sentences.push(`${name}: the token ${address} calls itself "${found}", and ${symbol} is configured.`);
  }
  return sentences;
}

/** Tether writes its name with a sign of its own. */
function plainSymbol(symbol: string): string {
  return symbol.replaceAll("₮", "T").toLowerCase();
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
