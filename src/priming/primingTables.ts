import type { GeneratedAlways } from "kysely";
import type { Caip2 } from "../kernel/caip.ts";

// The row types of the station priming.

declare module "../db/schema.ts" {
  interface Schema {
    primed_account: PrimedAccountTable;
  }
}

/**
 * planned → submitted → open → closing → open … → closed; submitted → planned when the transaction expired. Any →
 * closed.
 */
export type PrimedAccountStatus = "planned" | "submitted" | "open" | "closing" | "closed";

/** An account that this service creates, so that an inbox can receive a token, and closes again. */
export type PrimedAccountTable = {
  id: GeneratedAlways<bigint>;
  chain: Caip2;
  intent_id: string;
  /** The merchant account of the intent. */
  account_id: string;
  token: string;
  status: PrimedAccountStatus;
  /** Why it is closed, or is not closed yet. */
  reason: string | null;
  /** The last transaction that creates or closes it. */
  outgoing_id: bigint | null;
  /** The unused account is closed after this time; each report of a payer's view moves it. */
  keep_until: Date;
  /** When the next step is due. */
  retry_at: Date;
  created_at: Date;
  closed_at: Date | null;
};
