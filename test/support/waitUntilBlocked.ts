import { sql } from "kysely";
import type { Db, Tx } from "../../src/db/database.ts";

const READS_MAX = 1_000_000;

/** Waits until a session of this database waits for a lock. Those of other databases on the server do not count. */
export async function waitUntilBlocked(database: Tx | Db["root"]): Promise<void> {
  for (let reads = 0; reads < READS_MAX; reads += 1) {
    // The lock of a row names no database, but its session has locks of tables too.
    const { rows } = await sql`
      select from pg_locks waiting where not granted and exists (
        select from pg_locks other join pg_database on pg_database.oid = other.database
        where other.pid = waiting.pid and datname = current_database()
      ) limit 1`.execute(database);
    if (rows.length > 0) return;
  }
  throw new Error("no session waits for a lock");
}
