import { sql } from "kysely";
import type { Role } from "../config/operate/roles.ts";
import type { Db } from "../db/database.ts";
import { array } from "../db/parameters.ts";
import { addMs, DAY_MS, hasElapsed } from "../kernel/clock.ts";

/** How often a process writes that it runs. */
export const REPORT_MS = 3_000;
/** A process that is silent for longer has ended. */
const SILENT_MS_MAX = 10_000;
/** Far more processes than one database serves. */
const PROCESSES_MAX = 1_000;

export type ProcessReport = { id: string; roles: readonly Role[]; version: string; startedAt: Date };

/** Writes that a process runs, and deletes the rows of those that ended a day ago. */
export async function reportProcess(db: Db, { id, roles, version, startedAt }: ProcessReport, at: Date): Promise<void> {
  await db.transaction(async (tx) => {
    await sql`
      insert into service_process (id, roles, version, started_at, seen_at)
      values (${id}, ${array(roles, "text")}, ${version}, ${startedAt}, ${at})
      on conflict (id) do update set seen_at = excluded.seen_at`.execute(tx);
    await tx.deleteFrom("service_process").where("seen_at", "<", addMs(at, -DAY_MS)).execute();
  });
}

export type RunningProcess = { id: string; roles: string[]; version: string; startedAt: Date };

/** The processes that run, oldest first. */
export async function listProcesses(db: Db, now: Date): Promise<RunningProcess[]> {
  const rows = await db.root
    .selectFrom("service_process")
    .selectAll()
    .orderBy("started_at")
    .limit(PROCESSES_MAX)
    .execute();
  return rows.flatMap(({ id, roles, version, started_at: startedAt, seen_at: since }) =>
    hasElapsed(SILENT_MS_MAX, { since, now }) ? [] : [{ id, roles, version, startedAt }],
  );
}
