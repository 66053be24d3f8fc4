import { listEventsOf } from "../support/events.ts";
import type { Db } from "../../src/db/database.ts";
import type { IntentRow } from "../../src/intent/store.ts";

/** The outcome of a run, one line per fact. It omits ids, hashes and times, because only these may differ. */
export type Outcome = Record<string, readonly string[]>;

export async function readOutcome(db: Db, intents: Readonly<Record<string, IntentRow>>): Promise<Outcome> {
  const outcome: Outcome = {};
  for (const [label, { id }] of Object.entries(intents)) {
    const intent = await db.root.selectFrom("intent").selectAll().where("id", "=", id).executeTakeFirstOrThrow();
    outcome[label] = [
      formatTallies(intent),
      ...(await listDeposits(db, id)),
      ...(await listSettlements(db, id)),
      ...(await listEvents(db, id)),
    ];
  }
  return outcome;
}

function formatTallies(intent: IntentRow): string {
  const { status, received_units, counted_units, settled_units, fee_units, net_units, pending_count } = intent;
  return `${status}: received ${received_units}, counted ${counted_units}, settled ${settled_units}, fee ${fee_units}, net ${net_units}, pending ${pending_count}`;
}

async function listDeposits(db: Db, intentId: string): Promise<string[]> {
  const rows = await db.root
    .selectFrom("deposit")
    .selectAll()
    .where("intent_id", "=", intentId)
    .orderBy("seq")
    .execute();
  return rows.map(
    (row) =>
      `deposit at ${row.identity}: ${row.status} ${row.counted_units} of ${row.amount_units}, swept ${row.settlement_id !== null}, late ${row.late}`,
  );
}

async function listSettlements(db: Db, intentId: string): Promise<string[]> {
  const rows = await db.root
    .selectFrom("settlement")
    .selectAll()
    .where("intent_id", "=", intentId)
    .orderBy("seq")
    .execute();
  return rows.map(
    (row) =>
      `settlement: ${row.status}, gross ${row.gross_units}, fee ${row.fee_units}, net ${row.net_units}, ours ${row.outgoing_id !== null}`,
  );
}

async function listEvents(db: Db, intentId: string): Promise<string[]> {
  const events = await listEventsOf(db, intentId);
  return events.map(({ type, isSequenced }) => `${type}${isSequenced ? "" : ", not stamped"}`);
}

/** The statuses of the transactions since `id`. An additional nonce moves nothing, but it costs gas. */
export async function outgoingTransactionsSince(db: Db, id: bigint): Promise<{ last: bigint; statuses: string[] }> {
  const rows = await db.root
    .selectFrom("outgoing_transaction")
    .select(["id", "status"])
    .where("id", ">", id)
    .orderBy("id")
    .execute();
  return { last: rows.at(-1)?.id ?? id, statuses: rows.map((row) => row.status) };
}
