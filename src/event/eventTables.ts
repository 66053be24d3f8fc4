import type { Generated, GeneratedAlways } from "kysely";

// The row types of the events and their counters.

declare module "../db/schema.ts" {
  interface Schema {
    event: EventTable;
    event_counter: EventCounterTable;
    event_expiry: EventExpiryTable;
  }
}

export type EventTable = {
  position: GeneratedAlways<bigint>;
  /** Per account from 1, without gaps; null until it is assigned after the commit. */
  sequence: bigint | null;
  /** `seq` of its intent; null for an event of the account itself. */
  intent_number: bigint | null;
  created_at: Date;
  account_number: number;
  type: number;
  format: number;
  livemode: boolean;
  /** The 16 bytes of its id. */
  id: Uint8Array;
  /** The values that it shows beside pinned columns of its intent. */
  content: unknown;
};

/** `revision` increases with every assignment of sequences, in the order of their commits. */
export type EventCounterTable = { account_number: number; last_sequence: bigint; revision: bigint };

/** Events created up to this time may have been deleted. */
export type EventExpiryTable = { only_row: Generated<boolean>; expired_before: Date };
