import { CompiledQuery } from "kysely";
import type { Db } from "../../../db/database.ts";
import type { Caip2 } from "../../../kernel/caip.ts";
import { EventCursor } from "./eventCursor.ts";

type Change = { position: bigint | null; intentId: string | null; chain: Caip2 | "" | null; number: bigint | null };

/** Without a position it returns no event and only the newest position. */
const READ_CHANGES = `/* shared: read_checkout_changes */
  select * from (
    select event.position, event.intent_id as "intentId", null::text as chain, null::int8 as number from event
    where event.position > coalesce($1::int8, (select max(position) from event), 0) order by event.position limit 2000) as recent
  union all
  select event.position, event.intent_id, null, null from event where event.position = any($2::int8[])
  union all
  select null, null, chain, number from chain_cursor
  union all
  select coalesce((select max(position) from event), 0), null, '', null`;

/** Finds the intents with new events, and the last block of each chain, in one statement. */
export class ChangeReader {
  readonly #db: Db;
  readonly #cursor = new EventCursor();
  /** The last block that the watcher has read on each chain. */
  readonly heads = new Map<Caip2, bigint>();

  constructor(db: Db) {
    this.#db = db;
  }

  /** Returns the intents with events since the last read; none at the first one. */
  async read(): Promise<ReadonlySet<string>> {
    const query = CompiledQuery.raw(READ_CHANGES, [this.#cursor.last ?? null, this.#cursor.missing()]);
    const { rows } = await this.#db.root.executeQuery<Change>(query);
    const intentIds = new Set<string>();
    const positions: bigint[] = [];
    let newest = 0n;
    for (const { position, intentId, chain, number } of rows) {
      if (chain === "") newest = position ?? 0n;
      else if (chain !== null && number !== null) this.heads.set(chain, number);
      else if (position !== null) {
        positions.push(position);
        if (intentId !== null) intentIds.add(intentId);
      }
    }
    this.#cursor.advance(positions, newest);
    return intentIds;
  }

  /** The next read begins at the newest event. */
  reset(): void {
    this.#cursor.reset();
  }
}
