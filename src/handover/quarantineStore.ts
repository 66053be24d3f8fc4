import { sql, type Selectable } from "kysely";
import type { Db, Tx } from "../db/database.ts";
import { array } from "../db/parameters.ts";
import type { MovementTable } from "../watch/watchTables.ts";
import type { ConsumerCursorTable, QuarantineTable } from "./handoverTables.ts";
import type { Caip2 } from "../kernel/caip.ts";
import { addMs } from "../kernel/clock.ts";
import { arrivalsByRevision, handedOver } from "../watch/store/namedIndexes.ts";
import type { MovementRow } from "../watch/movement.ts";

// Intents whose movements a station could not process. While an intent is here, the station's cursor passes its
// movements, and a retry processes them later from the stored place.

export type QuarantineRow = Selectable<QuarantineTable>;
export type StationName = QuarantineTable["station"];
type StationOnChain = { station: StationName; chain: Caip2 };

/** The longest wait between two attempts, in milliseconds. */
export const QUARANTINE_WAIT_MS_MAX = 3_600_000;

/** Those of the intents that are quarantined. */
export async function listQuarantinedAmong(
  tx: Tx,
  { station, chain }: StationOnChain,
  intentIds: readonly string[],
): Promise<Set<string>> {
  if (intentIds.length === 0) return new Set();
  const rows = await tx
    .selectFrom("quarantine")
    .select("intent_id")
    .where("station", "=", station)
    .where("chain", "=", chain)
    .where(sql<boolean>`intent_id = any(${array(intentIds, "text")})`)
    .execute();
  return new Set(rows.map((row) => row.intent_id));
}

/** Quarantines intents, one row each. The caller holds the lock of the station's cursor. */
export async function insertQuarantined(tx: Tx, rows: readonly QuarantineRow[]): Promise<void> {
  if (rows.length === 0) return;
  await tx
    .insertInto("quarantine")
    .values([...rows])
    .execute();
}

/**
 * Quarantined intents that are due, longest due first. A later retry than the longest wait allows counts as due: the
 * clock was set back.
 */
export async function listDueQuarantined(
  db: Db,
  { station, chain, at, limit }: StationOnChain & { at: Date; limit: number },
): Promise<QuarantineRow[]> {
  return db.root
    .selectFrom("quarantine")
    .selectAll()
    .where("station", "=", station)
    .where("chain", "=", chain)
    .where((where) =>
      where.or([where("retry_at", "<=", at), where("retry_at", ">", addMs(at, QUARANTINE_WAIT_MS_MAX))]),
    )
    .orderBy("retry_at")
    .limit(limit)
    .execute();
}

/**
 * The row as it is now; undefined once another process has released the intent. The caller holds the lock of the
 * station's cursor.
 */
export async function findQuarantined(
  tx: Tx,
  { station, chain, intent_id }: Pick<QuarantineRow, "station" | "chain" | "intent_id">,
): Promise<QuarantineRow | undefined> {
  return tx
    .selectFrom("quarantine")
    .selectAll()
    .where("station", "=", station)
    .where("chain", "=", chain)
    .where("intent_id", "=", intent_id)
    .forUpdate()
    .executeTakeFirst();
}

/** Writes the place, reason, attempts and time of the next retry. */
export async function updateQuarantined(tx: Tx, row: QuarantineRow): Promise<void> {
  const { station, chain, intent_id, since: _, ...changing } = row;
  await tx
    .updateTable("quarantine")
    .set(changing)
    .where("station", "=", station)
    .where("chain", "=", chain)
    .where("intent_id", "=", intent_id)
    .execute();
}

/** Ends an intent's quarantine: all of its movements up to the station's cursor are processed. */
export async function deleteQuarantined(tx: Tx, row: QuarantineRow): Promise<void> {
  await tx
    .deleteFrom("quarantine")
    .where("station", "=", row.station)
    .where("chain", "=", row.chain)
    .where("intent_id", "=", row.intent_id)
    .execute();
}

/** A quarantined intent's movements that the cursor has passed, in commit order. */
export async function listPassedMovements(
  tx: Tx,
  row: QuarantineRow,
  scope: { direction: MovementTable["direction"]; cursor: ConsumerCursorTable; limit: number },
): Promise<MovementRow[]> {
  return tx
    .selectFrom("movement")
    .selectAll()
    .where(
      scope.direction === "in"
        ? arrivalsByRevision({ intentId: row.intent_id, chain: row.chain })
        : handedOver(row.chain, "out"),
    )
    .where("intent_id", "=", row.intent_id)
    .where(sql<boolean>`(revision, id) > (${row.revision}, ${row.movement_id})`)
    .where(sql<boolean>`(revision, id) <= (${scope.cursor.revision}, ${scope.cursor.movement_id})`)
    .orderBy("revision")
    .orderBy("id")
    .limit(scope.limit)
    .execute();
}
