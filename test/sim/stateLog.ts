import type { SimDatabase } from "./simDatabase.ts";
import type { Trace } from "./trace.ts";

const STATES_SQL = `
  select 'intent ' || left(id, 8) as what, status || ', counted ' || counted_units || ', settled ' || settled_units as state from intent
  union all select 'deposit ' || left(id, 9) || ' of ' || left(intent_id, 8), status || ' ' || amount_units || ' in block ' || block_number
    || coalesce(', ' || reason, '') || coalesce(', swept by ' || left(settlement_id, 9), '') from deposit
  union all select 'settlement ' || left(id, 9) || ' of ' || left(intent_id, 8), status || coalesce(', gross ' || gross_units, '')
    || coalesce(', ' || reason, '') from settlement
  union all select 'crossing ' || movement_id || ' of ' || left(intent_id, 8), status || ' ' || units || coalesce(' to ' || right(mint, 8), '')
    || coalesce(', ' || reason, '') from crossing
  union all select 'transaction ' || id, coalesce('nonce ' || nonce || ' ', '') || status from outgoing_transaction
  order by 1`;

const LOGGED_TABLES = ["intent", "deposit", "settlement", "crossing", "outgoing_transaction"];

/** Adds the state changes of intents, deposits, settlements and outgoing transactions to the trace. */
export class StateLog {
  readonly #database: SimDatabase;
  readonly #trace: Trace;
  readonly #states = new Map<string, string>();
  #isStale = false;

  constructor(database: SimDatabase, trace: Trace) {
    this.#database = database;
    this.#trace = trace;
  }

  /** Logs the states that a commit changed. */
  noteCommit(tables: ReadonlySet<string>): void {
    this.#isStale ||= this.#trace.keepsLines && LOGGED_TABLES.some((table) => tables.has(table));
  }

  logChanges(): void {
    if (!this.#isStale) return;
    this.#isStale = false;
    const rows = this.#database.rows(STATES_SQL) as { what: string; state: string }[];
    for (const { what, state } of rows) {
      if (this.#states.get(what) === state) continue;
      this.#states.set(what, state);
      this.#trace.annotate(`${what}: ${state}`);
    }
  }
}
