// The row types of the rate limits.

declare module "../../db/schema.ts" {
  interface Schema {
    rate_log: RateLogTable;
  }
}

/** The calls of one rate-limit key. Times are milliseconds of the database's clock. */
export type RateLogTable = {
  key: string;
  /** For each counted call, the time until which it counts. */
  counted_until_ms: bigint[];
  /** The number of permits that the last request got. */
  granted: number;
  granted_until_ms: bigint;
  /** The process that took permits last. */
  holder: string;
};
