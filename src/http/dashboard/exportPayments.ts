import { listIntents } from "../../intent/readIntents.ts";
import { intentRecord } from "../../intent/intentRecord.ts";
import type { IntentFilter } from "../../intent/lists/listIntentPage.ts";
import type { IntentRow } from "../../intent/store.ts";
import type { World } from "../../world.ts";
import { readFromReplica } from "../reads/readFromReplica.ts";
import { toPaymentRow } from "./paymentViews.ts";

type ExportWorld = Pick<World, "db" | "replica" | "entropy" | "memory" | "catalog" | "config">;

const PAGE_SIZE = 100;
/** Payments of one export. The last line says so where there are more. */
const PAYMENTS_MAX = 100_000;

const COLUMNS = [
  "intentId",
  "merchantReference",
  "description",
  "status",
  "paymentStatus",
  "price",
  "received",
  "net",
  "currency",
  "createdAt",
] as const;

const STOPPED = `stopped after ${PAYMENTS_MAX} payments: filter by time for the rest`;

/**
 * The list as lines, read page by page while the reader takes them. An error ends the transfer before its end, which a
 * browser shows as a failed download.
 */
export async function* exportPayments(
  world: ExportWorld,
  format: "csv" | "jsonl",
  query: { accountId: string } & Partial<IntentFilter>,
): AsyncGenerator<string> {
  if (format === "csv") yield `${COLUMNS.join(",")}\r\n`;
  let cursor: string | undefined;
  for (let count = 0; count < PAYMENTS_MAX; count += PAGE_SIZE) {
    const { result: page } = await readFromReplica(world, (read) =>
      listIntents(read, { ...query, limit: PAGE_SIZE, cursor }),
    );
    const toLine = format === "csv" ? toCsvLine : toJsonLine;
    if (page.intents.length > 0) yield page.intents.map((intent) => toLine(world, intent)).join("");
    if (!page.hasMore) return;
    cursor = page.nextCursor;
  }
  yield format === "csv" ? `${csvCell(STOPPED)}\r\n` : `${JSON.stringify({ stopped: STOPPED })}\n`;
}

function toJsonLine(world: ExportWorld, intent: IntentRow): string {
  return `${JSON.stringify(intentRecord(intent, world.config))}\n`;
}

function toCsvLine(world: ExportWorld, intent: IntentRow): string {
  const { price, received, net, ...row } = toPaymentRow(world, intent);
  const values: Readonly<Record<string, string | null>> = {
    ...row,
    price: price?.decimal ?? "",
    received: received.decimal,
    net: net.decimal,
    currency: received.symbol,
  };
  return `${COLUMNS.map((name) => csvCell(values[name] ?? "")).join(",")}\r\n`;
}

/** The beginnings of formulas, also in full width, where a cell begins: some countries separate cells by ";". */
const FORMULA = /(^|[;\t\r\n|])(?=[=+\-@\t\r\n|＝＋－＠])/g;

/** A spreadsheet runs a cell that begins like a formula, so an apostrophe stands before it. */
export function csvCell(text: string): string {
  const safe = text.replace(FORMULA, "$1'");
  return /[",\r\n]/.test(safe) || safe !== text ? `"${safe.replaceAll('"', '""')}"` : safe;
}
