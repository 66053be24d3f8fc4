import type { NetworkCctp } from "../../src/config/networks/network.ts";
import type { SourceKey } from "./sources.ts";

// The issuer's times and fees, which its package does not have, from its pages.

/** Until the issuer attests a burn, in seconds: `fast`, and `standard` from the least to the most. By issuer's key. */
const ATTESTATION: Readonly<Record<string, { fast?: number; standard?: readonly [number, number] }>> = {
  Ethereum: { fast: 20, standard: [780, 1_140] },
  Arbitrum: { fast: 8, standard: [780, 1_140] },
  Avalanche: { standard: [8, 8] },
  Base: { fast: 8, standard: [780, 1_140] },
  Codex: { fast: 8, standard: [780, 1_140] },
  Edge: { fast: 8 },
  HyperEVM: { standard: [5, 5] },
  Ink: { fast: 8, standard: [1_800, 1_800] },
  Linea: { fast: 8, standard: [21_600, 115_200] },
  Monad: { standard: [5, 5] },
  Optimism: { fast: 8, standard: [780, 1_140] },
  Plume: { fast: 8, standard: [780, 1_140] },
  Polygon: { standard: [8, 8] },
  Sei: { standard: [5, 5] },
  Solana: { fast: 8, standard: [25, 25] },
  Sonic: { standard: [8, 8] },
  Unichain: { fast: 8, standard: [780, 1_140] },
  World_Chain: { fast: 8, standard: [780, 1_140] },
  XDC: { standard: [10, 10] },
};

/**
 * What the issuer keeps of a fast burn, in hundredths of a percent. By issuer's key; where a key is missing there is no
 * fast way.
 */
const FAST_FEE_BPS: Readonly<Record<string, number>> = {
  Arbitrum: 1.3,
  Base: 1.3,
  Codex: 1.5,
  Edge: 1.5,
  Ethereum: 1,
  Ink: 2,
  Linea: 11,
  Morph: 4,
  Optimism: 1.3,
  Plume: 2,
  Solana: 1,
  Unichain: 1.5,
  World_Chain: 1.3,
};

/** What the issuer's pages say of its times and its fee. */
export function attestationOf(key: string): Pick<NetworkCctp, "fastSeconds" | "standardSeconds" | "fastFeeBps"> {
  const { fast, standard } = ATTESTATION[key] ?? {};
  const fee = FAST_FEE_BPS[key];
  return {
    ...(fast === undefined ? {} : { fastSeconds: fast }),
    ...(standard === undefined ? {} : { standardSeconds: standard }),
    ...(fee === undefined ? {} : { fastFeeBps: fee }),
  };
}

export function attestationSources(key: string): [field: string, source: SourceKey][] {
  return Object.keys(attestationOf(key)).map((field) => [field, field === "fastFeeBps" ? "fees" : "times"]);
}
