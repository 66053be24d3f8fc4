import { listEventsOf } from "./events.ts";
import type { Db } from "../../src/db/database.ts";
import type { IntentRow } from "../../src/intent/store.ts";
import type { ChainHistory } from "./chainHistory.ts";

// The facts that a merchant, a payer or an accountant can see, as text whose lines show how two states differ.

/**
 * One line per fact, by intent. It omits ids, times and the number of steps, because these depend on the order of
 * reads.
 */
export type StateSummary = Record<string, readonly string[]>;

/**
 * Summarizes the state after a history. It omits `late`, which depends on the intent's status when the deposit was
 * seen. Of the events, it omits the steps that a reorg reversed.
 */
export async function summarizeState(db: Db, history: ChainHistory): Promise<StateSummary> {
  const summary: StateSummary = {};
  for (const { id } of history.intents) {
    const intent = await db.root.selectFrom("intent").selectAll().where("id", "=", id).executeTakeFirstOrThrow();
    const label = history.labelOf.get(id) ?? id;
    const labelTx = (chainTx: string | null) => (chainTx === null ? "-" : `tx${history.chainTxs.indexOf(chainTx) + 1}`);
    summary[label] = [
      tallyLine(intent),
      ...(await depositLines(db, intent, labelTx)),
      ...(await settlementLines(db, intent, labelTx)),
      ...(await eventLines(db, intent, labelTx)),
    ];
  }
  return summary;
}

type LabelTx = (chainTx: string | null) => string;

function tallyLine(intent: IntentRow): string {
  const { status, received_units, counted_units, settled_units, fee_units, net_units, pending_count } = intent;
  return `${status} received ${received_units} counted ${counted_units} settled ${settled_units} fee ${fee_units} net ${net_units} pending ${pending_count}`;
}

async function depositLines(db: Db, intent: IntentRow, name: LabelTx): Promise<string[]> {
  const rows = await db.root
    .selectFrom("listed_deposit")
    .leftJoin("settlement", "settlement.id", "listed_deposit.settlement_id")
    .selectAll("listed_deposit")
    .select("settlement.chain_tx as sweptBy")
    .where("listed_deposit.intent_id", "=", intent.id)
    .where("listed_deposit.status", "<>", "dropped")
    .execute();
  const lines = rows.map(
    (row) =>
      `deposit ${name(row.chain_tx)}/${row.identity} ${row.amount_units} from ${row.sender.slice(0, 4)} in block ${row.block_number}: ` +
      `${row.status} ${row.counted_units} ${row.reason ?? ""}, swept by ${name(row.sweptBy)}`,
  );
  return lines.toSorted();
}

/**
 * Landed settlements, and whether a sweep is open. It omits settlements that a reorg dropped, because their
 * replacements land.
 */
async function settlementLines(db: Db, intent: IntentRow, name: LabelTx): Promise<string[]> {
  const rows = await db.root.selectFrom("settlement").selectAll().where("intent_id", "=", intent.id).execute();
  const landed = rows.filter((row) => row.status === "landed");
  const waiting = await db.root
    .selectFrom("listed_deposit")
    .select("movement_id")
    .where("intent_id", "=", intent.id)
    .where("status", "=", "counted")
    .where("settlement_id", "is", null)
    .execute();
  const isOpen = rows.some((row) => ["planned", "submitted", "held"].includes(row.status));
  const lines = landed.map(
    (row) =>
      `landed ${name(row.chain_tx)} in block ${row.block_number} gross ${row.gross_units} fee ${row.fee_units} net ${row.net_units}`,
  );
  return [...lines.toSorted(), ...(waiting.length > 0 ? [`${waiting.length} unsettled, sweep open: ${isOpen}`] : [])];
}

type EventSummary = { type: string; data: { object: { depositId?: string; settlementId?: string } } };

async function eventLines(db: Db, intent: IntentRow, name: LabelTx): Promise<string[]> {
  const summaries = (await listEventsOf(db, intent.id)) as EventSummary[];
  const deposits = await db.root.selectFrom("deposit").selectAll().where("intent_id", "=", intent.id).execute();
  const depositEvents = deposits
    .filter((deposit) => deposit.status !== "dropped")
    .map((deposit) => {
      const types = summaries.filter((event) => event.data.object.depositId === deposit.id).map((event) => event.type);
      return `events of ${name(deposit.chain_tx)}/${deposit.identity}: ${types.slice(types.lastIndexOf("deposit.seen")).join(" ")}`;
    });
  const settlements = await db.root.selectFrom("settlement").selectAll().where("intent_id", "=", intent.id).execute();
  const settlementEvents = settlements
    .filter((settlement) => settlement.status === "landed")
    .map((settlement) => {
      const types = summaries
        .filter((event) => event.type.startsWith("settlement.") && event.data.object.settlementId === settlement.id)
        .map((event) => event.type);
      return `events of ${name(settlement.chain_tx)}: ${types.at(-1)}`;
    });
  const lastOf = (...types: string[]) => summaries.findLast((event) => types.includes(event.type))?.type ?? "nothing";
  const settled = lastOf("payment_intent.settled", "payment_intent.reopened");
  const paid = lastOf("payment_intent.paid", "payment_intent.reversed");
  return [...depositEvents.toSorted(), ...settlementEvents.toSorted(), `last events: ${settled}, ${paid}`];
}
