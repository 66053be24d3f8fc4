/** Sums of one coin as decimals: gross is what bridge, fee and payout got. */
export type CoinSums = {
  readonly gross: string;
  readonly routeCost: string;
  readonly fee: string;
  readonly net: string;
  readonly count: string;
};

export type SettlementDays = {
  /** Dates such as 2026-11-28 in UTC; `to` is not included. */
  readonly from: string;
  readonly to: string;
  readonly today: string;
  /** What landed in the period, each coin for itself. */
  readonly coin: string;
  readonly coins: readonly string[];
  /** The chains on which it was paid, the largest sum first, with what landed in the wallet on each day. */
  readonly chains: readonly { readonly name: string; readonly sums: CoinSums; readonly nets: readonly string[] }[];
  /** Every day of the period, the oldest first. */
  readonly days: readonly { readonly day: string; readonly net: string; readonly count: string }[];
  readonly total: CoinSums;
  /** ISO 8601: what landed since is not in the sums yet. Null: they are complete. */
  readonly incompleteSince: string | null;
};
