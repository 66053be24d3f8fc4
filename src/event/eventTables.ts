import type { Generated, GeneratedAlways } from "kysely";

// The row types of the events and their counters.

declare module "../db/schema.ts" {
  interface Schema {
    event: EventTable;
    event_counter: EventCounterTable;
    event_expiry: EventExpiryTable;
    database_epoch: DatabaseEpochTable;
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

/** Increases with every loss of commits that the service noticed or was told of. */
export type DatabaseEpochTable = {
  only_row: Generated<boolean>;
  epoch: number;
  /** Increases once a second, and in every transaction that assigns sequences. */
  counter: bigint;
  /** Of the server that the epoch began on; null where the service may not read it. */
  system_identifier: string | null;
  timeline_id: number | null;
  began_at: Date | null;
  reason: "counter" | "server" | "timeline" | "marked" | null;
  /** Accounts up to this number have their event of this epoch; null when all have. */
  feeds_restored_to: number | null;
};

/** Events created up to this time may have been deleted. */
export type EventExpiryTable = { only_row: Generated<boolean>; expired_before: Date };
