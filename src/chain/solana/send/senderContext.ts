import type { Caip2 } from "../../../kernel/caip.ts";
import type { Providers } from "../../providers.ts";
import type { SolanaNode } from "../node.ts";
import type { FeePayer } from "./feePayer.ts";

/** Dependencies of the sender of one cluster. */
export type SolanaSenderContext = {
  readonly caip2: Caip2;
  readonly providers: Providers<SolanaNode>;
  readonly feePayer: FeePayer;
  /** The inbox program. */
  readonly program: string;
  /** The wallet whose token accounts receive the fees. */
  readonly feeRecipient: string;
  /** The token program of each configured mint. */
  readonly tokenPrograms: ReadonlyMap<string, string>;
  /** Whether a token crosses by the bridge here. */
  readonly hasBridge: boolean;
  readonly feeCeiling: FeeCeiling;
  /** Mints that settle nothing, each with the reason, as of the last check. */
  readonly heldMints: Map<string, string>;
  /** The authorities of each mint, as of the first check. */
  readonly mintAuthorities: Map<string, string>;
};

/**
 * In micro-lamports a compute unit. `isExceeded` as of the last quote, so that each change is logged once.
 * `expiredInRow`: how many transactions have expired since one landed; a restart resets it.
 */
export type FeeCeiling = { readonly computeUnitPriceMax: bigint; isExceeded: boolean; expiredInRow: number };

export type SolanaSenderOptions = Pick<
  SolanaSenderContext,
  "feePayer" | "program" | "feeRecipient" | "tokenPrograms"
> & {
  computeUnitPriceMax: bigint;
  /** Default false. */
  hasBridge?: boolean;
};

export function createSenderContext(
  providers: Providers<SolanaNode>,
  { computeUnitPriceMax, hasBridge = false, ...options }: SolanaSenderOptions,
): SolanaSenderContext {
  const feeCeiling = { computeUnitPriceMax, isExceeded: false, expiredInRow: 0 };
  const checked = { heldMints: new Map<string, string>(), mintAuthorities: new Map<string, string>() };
  return { caip2: providers.caip2, providers, ...options, hasBridge, feeCeiling, ...checked };
}
