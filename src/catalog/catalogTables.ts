import type { Caip2 } from "../kernel/caip.ts";

// The row types of the station catalog.

declare module "../db/schema.ts" {
  interface Schema {
    served_token: ServedTokenTable;
  }
}

/**
 * Every token that was ever configured. `symbol` is empty for tokens configured before this table existed. No intent
 * and no movement up to `unused_intent` and `unused_movement` uses it; null while it is configured.
 */
export type ServedTokenTable = {
  chain: Caip2;
  token: string;
  symbol: string;
  since: Date;
  unused_intent: bigint | null;
  unused_movement: bigint | null;
};
