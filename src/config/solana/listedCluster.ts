import { referenceOf } from "../../kernel/caip.ts";
import type { ChainDescription, SolanaProgramConfig } from "../config.ts";
import * as rules from "../rules.ts";
import { ConfigError, fieldPath, hasField, readField, readList, readSection } from "../section.ts";
import { readClusterFacts, type Environment } from "./clusters.ts";
import { readProgram } from "./program.ts";
import { readListedToken, rejectDuplicateTokens } from "./token.ts";

const LISTED_KEYS = [
  "namespace",
  "reference",
  "name",
  "slug",
  "publicRpcUrl",
  "explorerUrl",
  "tokens",
  "rpcUrl",
  "program",
] as const;

export type ListedCluster = { description: ChainDescription; program: SolanaProgramConfig | undefined };

/**
 * Reads a Solana entry of `chains` without `rpcUrls`. Its tokens are origins; the service neither watches it nor
 * settles on it. With `rpcUrl` the start compares the cluster's inbox program.
 */
export function readListedCluster(value: unknown, path: string, environment: Environment): ListedCluster {
  const section = readSection(value, { path, known: LISTED_KEYS });
  const facts = readClusterFacts(section, environment);
  const tokens = readList(section, "tokens", readListedToken);
  rejectDuplicateTokens(tokens, path);
  const description: ChainDescription = { ...facts, tokens, defaultToken: undefined };
  if (!hasField(section, "rpcUrl")) {
    if (hasField(section, "program"))
      throw new ConfigError(`${fieldPath(section, "program")}: it needs rpcUrl, by which the program is compared.`);
    return { description, program: undefined };
  }
  const program: SolanaProgramConfig = {
    caip2: facts.caip2,
    name: facts.name,
    address: readProgram(section, referenceOf(facts.caip2)),
    // It may contain the provider's key.
    rpcUrl: readField(section, "rpcUrl", { ...rules.webUrl, isSecret: true }),
  };
  return { description, program };
}
