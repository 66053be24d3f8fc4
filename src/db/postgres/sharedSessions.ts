import pg from "pg";
import { DatabaseUnusable } from "../errors.ts";

// A pooler in transaction mode gives each transaction another session of the server. What a session sets is then another
// client's, and statements that it has prepared are gone.

/** A pooler with several sessions may give the same one to both clients only now and then. */
const ROUNDS = 3;

type Answered = { pid: number; probe: string | null };
type Client = Pick<pg.ClientBase, "query">;

/**
 * Throws DatabaseUnusable when a second client gets the session of the first, whose own session it still is. `connect`
 * opens the second one; a server without room for it gives no verdict.
 */
export async function refuseSharedSessions(first: Client, settings: pg.ClientConfig): Promise<void> {
  const second = new pg.Client(settings);
  second.on("error", () => {});
  try {
    await second.connect();
  } catch {
    return;
  }
  try {
    if (await isShared(first, second)) throw new DatabaseUnusable(SENTENCE);
  } finally {
    await second.end().catch(() => {});
  }
}

const SENTENCE =
  "a pooler before this database shares one session among several clients (transaction mode): use its session mode, or the database's direct host and port";

async function isShared(first: Client, second: Client): Promise<boolean> {
  const own = await ask(
    first,
    "select pg_backend_pid() as pid, set_config('tributary.probe', pg_backend_pid()::text, false) as probe",
  );
  for (let round = 0; round < ROUNDS; round += 1) {
    const other = await ask(
      second,
      "select pg_backend_pid() as pid, current_setting('tributary.probe', true) as probe",
    );
    if (other.pid === own.pid || other.probe === String(own.pid)) return true;
    const again = await ask(first, "select pg_backend_pid() as pid, current_setting('tributary.probe', true) as probe");
    if (again.pid !== own.pid) return true;
  }
  return false;
}

async function ask(client: Client, text: string): Promise<Answered> {
  const { rows } = await client.query<Answered>(text);
  return { pid: Number(rows[0]?.pid), probe: rows[0]?.probe ?? null };
}
