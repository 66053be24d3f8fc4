import type { Caip2 } from "../kernel/caip.ts";

// The row types of the hand-over of movements to later stations.

declare module "../db/schema.ts" {
  interface Schema {
    deposit_cursor: ConsumerCursorTable;
    settlement_cursor: ConsumerCursorTable;
    quarantine: QuarantineTable;
  }
}

/** A station's progress over the movements of a chain: the last (revision, id) that it processed. */
export type ConsumerCursorTable = { chain: Caip2; revision: bigint; movement_id: bigint };

/**
 * An intent whose movements a station could not process. The station processes the other intents, and retries this one
 * later.
 */
export type QuarantineTable = {
  station: "deposit" | "settlement";
  chain: Caip2;
  intent_id: string;
  /** The last movement before the unprocessed ones. */
  revision: bigint;
  movement_id: bigint;
  /** The error of the last attempt. */
  reason: string;
  attempts: number;
  since: Date;
  retry_at: Date;
};
