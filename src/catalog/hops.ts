import { cctpV2MinAmount, cctpV2Speeds } from "@tributary/inbox/cctpV2";
import { tokenProgram as splTokenProgram } from "@tributary/inbox/solana/keys";
import type { SolanaRoute } from "@tributary/inbox/solana/terms";
import { isSolanaChainConfig } from "../config/config.ts";
import type { Caip2 } from "../kernel/caip.ts";
import { findWatchedChain, type Asset, type Catalog } from "./catalog.ts";
import { crossingMinimum } from "./crossingMinimum.ts";

/**
 * The ways of a mint on Solana to an EVM chain. An inbox there commits to them by itself, beside recovery key and
 * recipient, which are the intent's.
 */
export type Hop = {
  /** The origin chain. */
  readonly chain: Caip2;
  readonly mint: string;
  /** The program that owns the mint. */
  readonly tokenProgram: string;
  /** The inbox program. */
  readonly program: string;
  /** The bridge's program that burns. */
  readonly messenger: string;
  /** Gets the rent of closed accounts: the fee payer. */
  readonly rentRecipient: string;
  /** The bridge's number of the settle chain. */
  readonly domain: number;
  /** The least amount that is burned, in the mint's smallest units. */
  readonly minAmount: bigint;
  /** Fast, then standard. */
  readonly routes: readonly [SolanaRoute, SolanaRoute];
  readonly decimals: number;
  /** The smallest deposit that counts on its own, in the mint's smallest units. */
  readonly minimumUnits: bigint;
};

const ROUTES = [toSolanaRoute(cctpV2Speeds.fast), toSolanaRoute(cctpV2Speeds.standard)] as const;

function toSolanaRoute({
  feePpmMax,
  finalityThresholdMin: finalityThreshold,
}: (typeof cctpV2Speeds)["fast" | "standard"]): SolanaRoute {
  return { feePpmMax, finalityThreshold };
}

/**
 * Every way from a mint of the catalogue on Solana to a rail, in the order of the catalogue. Empty for other rails than
 * those of EVM chains.
 */
export function hopsTo(catalog: Catalog, rail: Asset): Hop[] {
  const settle = rail.bridge === undefined ? undefined : findWatchedChain(catalog, rail.chain)?.cctp;
  if (settle === undefined || rail.namespace !== "eip155") return [];
  return catalog.assets.flatMap((origin): Hop[] => {
    const chain = findWatchedChain(catalog, origin.chain);
    if (!origin.isOrigin || origin.bridge === undefined || chain?.cctp === undefined || !isSolanaChainConfig(chain))
      return [];
    const token = chain.tokens.find(({ address }) => address === origin.token);
    return [
      {
        chain: origin.chain,
        mint: origin.token,
        tokenProgram: token?.tokenProgram ?? splTokenProgram,
        program: chain.program,
        messenger: chain.cctp.messenger,
        rentRecipient: chain.feePayer,
        domain: settle.domain,
        minAmount: cctpV2MinAmount(Math.max(...ROUTES.map(({ feePpmMax }) => feePpmMax))),
        routes: ROUTES,
        decimals: origin.decimals,
        minimumUnits: crossingMinimum(origin, rail),
      },
    ];
  });
}
