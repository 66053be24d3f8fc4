import { sql } from "kysely";
import type { Db, Tx } from "../../db/database.ts";
import { assert } from "../../kernel/assert.ts";
import type { EpochPlace, FoundEpoch, RewindReason, ServerIdentity } from "./epoch.ts";

const SYSTEM = sql<string | null>`(select system_identifier::text from pg_control_system())`;
/** The first eight digits of a segment's name are its timeline, also before the first checkpoint after a promotion. */
const TIMELINE = sql<number | null>`('x' || left(pg_walfile_name(pg_current_wal_lsn()), 8))::bit(32)::int`;

/** Throws where the role may not read it, and on a server that has none. */
export async function readServerIdentity(db: Db): Promise<ServerIdentity> {
  const { rows } = await sql<ServerIdentity>`
    select ${SYSTEM} as "systemIdentifier", ${TIMELINE} as "timelineId"`.execute(db.root);
  return rows[0] ?? { systemIdentifier: null, timelineId: null };
}

export type PassedCounter = FoundEpoch & { areFeedsPending: boolean };

/**
 * Increases the counter and returns what stands there now. The first call in a database records its server. Holds a
 * row lock until the transaction ends.
 */
export async function passCounter(
  tx: Tx,
  { isIdentityReadable }: { isIdentityReadable: boolean },
): Promise<PassedCounter> {
  const [system, timeline] = isIdentityReadable ? [SYSTEM, TIMELINE] : [sql`null::text`, sql`null::int`];
  const { rows } = await sql<PassedRow>`
    with server as materialized (select ${system} as system_identifier, ${timeline} as timeline_id)
    insert into database_epoch as known (epoch, counter, system_identifier, timeline_id)
    select 0, 1, system_identifier, timeline_id from server
    on conflict (only_row) do update set counter = known.counter + 1,
      system_identifier = coalesce(known.system_identifier, excluded.system_identifier),
      timeline_id = coalesce(known.timeline_id, excluded.timeline_id)
    returning epoch, counter, system_identifier as "recordedSystem", timeline_id as "recordedTimeline",
      feeds_restored_to is not null as "areFeedsPending",
      (select system_identifier from server) as "presentSystem", (select timeline_id from server) as "presentTimeline"`.execute(
    tx,
  );
  const [row] = rows;
  assert(row !== undefined, "an upsert without condition returns its row");
  return {
    epoch: row.epoch,
    counter: row.counter,
    recorded: { systemIdentifier: row.recordedSystem, timelineId: row.recordedTimeline },
    present: { systemIdentifier: row.presentSystem, timelineId: row.presentTimeline },
    areFeedsPending: row.areFeedsPending,
  };
}

type PassedRow = EpochPlace & {
  recordedSystem: string | null;
  recordedTimeline: number | null;
  areFeedsPending: boolean;
  presentSystem: string | null;
  presentTimeline: number | null;
};

export type NewEpoch = EpochPlace & { reason: RewindReason; at: Date; server: ServerIdentity };

/** Begins an epoch. Afterwards every account waits for its event of it. The caller holds the row lock. */
export async function beginEpoch(tx: Tx, { epoch, counter, reason, at, server }: NewEpoch): Promise<void> {
  await tx
    .updateTable("database_epoch")
    .set({
      epoch,
      counter,
      reason,
      began_at: at,
      system_identifier: server.systemIdentifier,
      timeline_id: server.timelineId,
      feeds_restored_to: 0,
    })
    .execute();
}

/** The number up to which accounts have their event of this epoch; undefined when all have. Locks it. */
export async function lockPendingFeeds(tx: Tx): Promise<number | undefined> {
  const row = await tx.selectFrom("database_epoch").select("feeds_restored_to").forUpdate().executeTakeFirst();
  return row?.feeds_restored_to ?? undefined;
}

export async function setFeedsRestoredTo(tx: Tx, accountNumber: number | null): Promise<void> {
  await tx.updateTable("database_epoch").set({ feeds_restored_to: accountNumber }).execute();
}

export type LatestRewind = { epoch: number; reason: RewindReason; beganAt: Date };

/** The latest loss of commits; undefined when there was none. */
export async function findLatestRewind(db: Db): Promise<LatestRewind | undefined> {
  const row = await db.root.selectFrom("database_epoch").select(["epoch", "reason", "began_at"]).executeTakeFirst();
  if (row === undefined || row.reason === null || row.began_at === null) return undefined;
  return { epoch: row.epoch, reason: row.reason, beganAt: row.began_at };
}
