import type { Tx } from "../db/database.ts";
import { classifyError, isCausedByData } from "../kernel/errors/classifyError.ts";
import type { MovementTable } from "../watch/watchTables.ts";
import type { ConsumerCursorTable } from "./handoverTables.ts";
import type { Caip2 } from "../kernel/caip.ts";
import { addMs } from "../kernel/clock.ts";
import type { World } from "../world.ts";
import type { MovementRow } from "../watch/movement.ts";
import { advanceConsumerCursor, lockConsumerCursor, type CursorTableName } from "./cursorStore.ts";
import {
  deleteQuarantined,
  findQuarantined,
  insertQuarantined,
  listDueQuarantined,
  listPassedMovements,
  listQuarantinedAmong,
  QUARANTINE_WAIT_MS_MAX,
  updateQuarantined,
  type QuarantineRow,
  type StationName,
} from "./quarantineStore.ts";
import { raiseAlarm } from "../kernel/alarm/raiseAlarm.ts";
import { halveWhatFails } from "../kernel/errors/halveWhatFails.ts";

// How a station processes the movements of a chain. One intent that fails does not delay the others.

/** How a station reads and processes movements. `Result` is what one transaction leaves to do after its commit. */
export type MovementConsumer<Result> = {
  station: StationName;
  chain: Caip2;
  cursorTable: CursorTableName;
  direction: MovementTable["direction"];
  /** Movements per transaction. */
  batchMax: number;
  /** Movements after the cursor, in commit order. */
  list: (tx: Tx, cursor: ConsumerCursorTable, limit: number) => Promise<MovementRow[]>;
  /**
   * Processes movements. `upto` is the place until which all movements of their intents are processed then. Movements
   * that were processed before may come again, and must change nothing then.
   */
  apply: (tx: Tx, batch: { movements: readonly MovementRow[]; upto: ConsumerCursorTable }) => Promise<Result>;
};

type ConsumerWorld = Pick<World, "db" | "clock" | "log">;
/** `hasPassed`: there were movements, and their rows may have changed what later stations read. */
type ConsumerResult<Result> = { results: Result[]; isDone: boolean; hasPassed: boolean };
type Page = {
  cursor: ConsumerCursorTable;
  /** The cursor after this page. */
  upto: ConsumerCursorTable;
  /** Without the movements of quarantined intents. */
  movements: readonly MovementRow[];
  isLast: boolean;
};

/**
 * Processes one batch of movements and advances the station's cursor. When the batch fails because of its rows, its
 * intents are processed in halves, and those that fail alone are quarantined. Throws other errors, such as those of an
 * unreachable database.
 */
export async function consumeMovements<Result>(
  world: ConsumerWorld,
  consumer: MovementConsumer<Result>,
): Promise<ConsumerResult<Result>> {
  try {
    return await world.db.transaction(async (tx) => {
      const page = await readPage(tx, consumer);
      if (page === undefined) return { results: [], isDone: true, hasPassed: false };
      const { movements, upto, isLast } = page;
      const results = movements.length === 0 ? [] : [await consumer.apply(tx, { movements, upto })];
      await advanceConsumerCursor(tx, consumer.cursorTable, upto);
      return { results, isDone: isLast, hasPassed: true };
    });
  } catch (error) {
    if (!isCausedByData(error)) throw error;
    const { station, chain } = consumer;
    world.log.warn({ station, chain, err: error }, "a batch of movements failed; its intents are processed in halves");
    return processInHalves(world, consumer);
  }
}

async function readPage<Result>(tx: Tx, consumer: MovementConsumer<Result>): Promise<Page | undefined> {
  const { chain, batchMax } = consumer;
  const cursor = await lockConsumerCursor(tx, consumer.cursorTable, chain);
  const listed = await consumer.list(tx, cursor, batchMax);
  const last = listed.at(-1);
  if (last === undefined) return undefined;
  const quarantined = await listQuarantinedAmong(tx, consumer, distinctIntentIds(listed));
  return {
    cursor,
    upto: { chain, revision: last.revision, movement_id: last.id },
    movements: listed.filter((movement) => !quarantined.has(movement.intent_id)),
    isLast: listed.length < batchMax,
  };
}

/** A half is committed before the cursor passes it. A crash in between processes it again, which changes nothing. */
async function processInHalves<Result>(
  world: ConsumerWorld,
  consumer: MovementConsumer<Result>,
): Promise<ConsumerResult<Result>> {
  const page = await world.db.transaction((tx) => readPage(tx, consumer));
  if (page === undefined) return { results: [], isDone: true, hasPassed: false };
  const failures: { intentId: string; error: unknown }[] = [];
  // Another process may process this page meanwhile.
  let isOvertaken = false;
  const intentIds = distinctIntentIds(page.movements);
  const applied = await halveWhatFails(intentIds, {
    isCausedByItems: isCausedByData,
    step: async (half): Promise<Result[]> => {
      if (isOvertaken) return [];
      const asked = new Set(half);
      const outcome = await world.db.transaction(async (tx) => {
        if (await hasMoved(tx, consumer, page.cursor)) return undefined;
        const movements = page.movements.filter(({ intent_id }) => asked.has(intent_id));
        return { result: await consumer.apply(tx, { movements, upto: page.upto }) };
      });
      isOvertaken = outcome === undefined;
      return outcome === undefined ? [] : [outcome.result];
    },
    onFailed: (intentId, error) => void failures.push({ intentId, error }),
  });
  const results = applied.flat();
  if (isOvertaken) return { results, isDone: false, hasPassed: true };
  throwIfOverloaded(failures, intentIds.length);
  const rows = failures.map(({ intentId, error }) => newQuarantined(world, consumer, { intentId, error, page }));
  const isAdvanced = await world.db.transaction(async (tx) => {
    if (await hasMoved(tx, consumer, page.cursor)) return false;
    await insertQuarantined(tx, rows);
    await advanceConsumerCursor(tx, consumer.cursorTable, page.upto);
    return true;
  });
  if (!isAdvanced) return { results, isDone: false, hasPassed: true };
  for (const row of rows) logQuarantined(world, row);
  return { results, isDone: page.isLast, hasPassed: true };
}

async function hasMoved<Result>(
  tx: Tx,
  consumer: MovementConsumer<Result>,
  cursor: ConsumerCursorTable,
): Promise<boolean> {
  const current = await lockConsumerCursor(tx, consumer.cursorTable, consumer.chain);
  return current.revision !== cursor.revision || current.movement_id !== cursor.movement_id;
}

/** When every intent takes too long, the server is overloaded, and no intent is to blame. */
function throwIfOverloaded(failures: readonly { error: unknown }[], groups: number): void {
  const [first] = failures;
  if (
    first !== undefined &&
    groups > 1 &&
    failures.length === groups &&
    failures.every((each) => classifyError(each.error) === "timeout")
  )
    throw first.error;
}

/**
 * Retries the quarantined intents of a station that are due, at most `limit`. An intent whose movements are all
 * processed leaves the quarantine; one that fails again waits longer.
 */
export async function retryQuarantined<Result>(
  world: ConsumerWorld,
  consumer: MovementConsumer<Result>,
  limit: number,
): Promise<Result[]> {
  const { station, chain } = consumer;
  const due = await listDueQuarantined(world.db, { station, chain, at: world.clock.now(), limit });
  const results: Result[] = [];
  for (const row of due) {
    try {
      results.push(...(await retryIntent(world, consumer, row)));
    } catch (error) {
      if (!isCausedByData(error)) throw error;
      await postponeRetry(world, consumer, { row, error });
    }
  }
  return results;
}

async function retryIntent<Result>(
  world: ConsumerWorld,
  consumer: MovementConsumer<Result>,
  due: QuarantineRow,
): Promise<Result[]> {
  const { direction, batchMax, chain } = consumer;
  const { results, isReleased } = await world.db.transaction(async (tx) => {
    const cursor = await lockConsumerCursor(tx, consumer.cursorTable, chain);
    const row = await findQuarantined(tx, due);
    if (row === undefined) return { results: [], isReleased: false };
    const movements = await listPassedMovements(tx, row, { direction, cursor, limit: batchMax });
    const last = movements.length < batchMax ? undefined : movements.at(-1);
    const upto = last === undefined ? cursor : { chain, revision: last.revision, movement_id: last.id };
    // Before the movements: they are decided as those of an intent that has caught up.
    if (last === undefined) await deleteQuarantined(tx, row);
    const applied = movements.length === 0 ? [] : [await consumer.apply(tx, { movements, upto })];
    if (last !== undefined) await updateQuarantined(tx, { ...row, revision: last.revision, movement_id: last.id });
    return { results: applied, isReleased: last === undefined };
  });
  const { station, intent_id: intent } = due;
  if (isReleased) world.log.info({ station, chain, intent }, "the movements of a quarantined intent are processed");
  return results;
}

async function postponeRetry<Result>(
  world: ConsumerWorld,
  consumer: MovementConsumer<Result>,
  { row: due, error }: { row: QuarantineRow; error: unknown },
): Promise<void> {
  const row = await world.db.transaction(async (tx) => {
    await lockConsumerCursor(tx, consumer.cursorTable, consumer.chain);
    const current = await findQuarantined(tx, due);
    // Another process has released it, or retried it too.
    if (current === undefined || current.attempts !== due.attempts) return undefined;
    const attempts = current.attempts + 1;
    const after = { ...current, attempts, reason: messageOf(error), retry_at: nextRetry(world, attempts) };
    await updateQuarantined(tx, after);
    return after;
  });
  if (row !== undefined) logQuarantined(world, row);
}

function newQuarantined<Result>(
  world: ConsumerWorld,
  { station, chain }: MovementConsumer<Result>,
  { intentId, error, page }: { intentId: string; error: unknown; page: Page },
): QuarantineRow {
  return {
    station,
    chain,
    intent_id: intentId,
    revision: page.cursor.revision,
    movement_id: page.cursor.movement_id,
    reason: messageOf(error),
    attempts: 1,
    since: world.clock.now(),
    retry_at: nextRetry(world, 1),
  };
}

const WAIT_MS_FIRST = 5_000;

function nextRetry(world: ConsumerWorld, attempts: number): Date {
  return addMs(world.clock.now(), Math.min(WAIT_MS_FIRST * 4 ** (attempts - 1), QUARANTINE_WAIT_MS_MAX));
}

function logQuarantined(world: ConsumerWorld, row: QuarantineRow): void {
  const { station, chain, intent_id: intent, reason, attempts, retry_at: retryAt } = row;
  raiseAlarm(
    world.log,
    { alarm: "intent_quarantined", station, chain, intent, reason, attempts, retryAt },
    "the movements of an intent failed and are quarantined; they are retried later",
  );
}

/** The error's text without characters that the database refuses. */
function messageOf(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error);
  return text.replaceAll("\0", "").toWellFormed().slice(0, 500);
}

function distinctIntentIds(movements: readonly MovementRow[]): string[] {
  return [...new Set(movements.map((movement) => movement.intent_id))];
}
