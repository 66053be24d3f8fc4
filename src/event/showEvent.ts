import { idOf } from "../kernel/ids.ts";
import { eventTypeName } from "./event.ts";
import type { Stored } from "./format/format.ts";
import { getFormat } from "./format/formats.ts";
import { PINNED_COLUMNS, type PinnedIntent } from "./format/pinnedIntent.ts";

/** An event in the API's form. `previous` holds the changed fields' earlier values, null for a new resource. */
export type EventRecord = {
  id: string;
  object: "event";
  type: string;
  /** From 1, without gaps, per account. */
  sequence: number;
  livemode: boolean;
  apiVersion: string;
  createdAt: string;
  intentId: string | null;
  merchantReference: string | null;
  data: { object: unknown; previous: unknown };
};

/** The API version of the event format. */
export const EVENT_API_VERSION = "2026-11-01";

/** The columns of an event and the pinned ones of its intent, as `shownColumns` selects them. */
export type ShownEventRow = {
  position: bigint;
  sequence: bigint | null;
  created_at: Date;
  type: number;
  format: number;
  livemode: boolean;
  id: Uint8Array;
  content: unknown;
} & { readonly [Column in keyof PinnedIntent as `pinned_${Column}`]: PinnedIntent[Column] | null };

const EVENT_COLUMNS = ["position", "sequence", "created_at", "type", "format", "livemode", "id", "content"] as const;

/** SQL: the selected columns of a statement that joins the event under this name, and its intent as `intent`. */
export function shownColumns(event: string): string {
  const pinned = PINNED_COLUMNS.map((column) => `intent.${column} as pinned_${column}`);
  return [...EVENT_COLUMNS.map((column) => `${event}.${column}`), ...pinned].join();
}

/** The intent's pinned columns of a row; undefined for an event of the account itself. */
function pinnedIntent(row: ShownEventRow): PinnedIntent | undefined {
  if (row.pinned_id === null) return undefined;
  return Object.fromEntries(PINNED_COLUMNS.map((column) => [column, row[`pinned_${column}`]])) as PinnedIntent;
}

/** The resource of an event, and the earlier values of its changed fields. */
export function showEventData(row: ShownEventRow): { object: object; previous: object | null } {
  return getFormat(row.format).show(row.content as Stored, {
    intent: pinnedIntent(row),
    at: row.created_at,
  });
}

export function showEvent(row: ShownEventRow): EventRecord {
  return {
    id: idOf("evt", row.id),
    object: "event",
    type: eventTypeName(row.type) ?? `type.${row.type}`,
    sequence: Number(row.sequence ?? 0n),
    livemode: row.livemode,
    apiVersion: EVENT_API_VERSION,
    createdAt: row.created_at.toISOString(),
    intentId: row.pinned_id,
    merchantReference: row.pinned_merchant_reference,
    data: showEventData(row),
  };
}
