import { decodeCursor, encodeCursor, type CursorScope } from "../kernel/cursor.ts";
import { Fault } from "../kernel/faults.ts";
import type { World } from "../world.ts";
import { ensureDeployment } from "./deployment.ts";
import { findLookedEnd, isNarrow, listIntentPage, type IntentFilter } from "./lists/listIntentPage.ts";
import { findIntent, type IntentRow } from "./store.ts";

type ReadWorld = Pick<World, "db" | "entropy" | "memory">;

/** Returns an account's intent. Throws not_found for an unknown id and for another account's intent alike. */
export async function getIntent(world: ReadWorld, key: { accountId: string; intentId: string }): Promise<IntentRow> {
  const intent = isIntentId(key.intentId) ? await findIntent(world.db, key) : undefined;
  if (intent === undefined) throw new Fault("not_found", { message: "No such intent." });
  return intent;
}

/** Like getIntent, but also throws not_found for an archived intent. */
export async function getUnarchivedIntent(
  world: ReadWorld,
  key: { accountId: string; intentId: string },
): Promise<IntentRow> {
  const intent = await getIntent(world, key);
  if (intent.status === "archived") throw new Fault("not_found", { message: "No such intent." });
  return intent;
}

export type IntentListing = { intents: IntentRow[]; hasMore: boolean; nextCursor: string };

/**
 * A page of an account's intents, newest first; with a filter that no index has, it may be short or empty although more
 * follow. Throws invalid_cursor for a cursor of another list or account.
 */
export async function listIntents(
  world: ReadWorld,
  query: { accountId: string; limit: number; cursor?: string | undefined } & Partial<IntentFilter>,
): Promise<IntentListing> {
  const { signingSecret: secret } = await ensureDeployment(world);
  const context: CursorScope = { secret, list: "intents", owner: query.accountId };
  const belowSeq = query.cursor === undefined ? undefined : decodeCursor(query.cursor, context);
  if (query.cursor !== undefined && belowSeq === undefined) throw new Fault("invalid_cursor", { param: "cursor" });
  const { accountId, limit, cursor: _cursor, merchantReference, ...filter } = query;
  const rows = await listIntentPage(world.db, { accountId, limit: limit + 1, belowSeq, merchantReference, ...filter });
  const intents = rows.slice(0, limit);
  const last = intents.at(-1);
  // A page of a filter without an index goes on where it stopped looking, although it may be empty.
  const lookedSeq =
    rows.length <= limit && isNarrow(filter)
      ? await findLookedEnd(world.db, { accountId, belowSeq, merchantReference, ...filter })
      : undefined;
  const nextSeq = rows.length > limit ? last?.seq : lookedSeq;
  return {
    intents,
    hasMore: nextSeq !== undefined,
    nextCursor: nextSeq === undefined ? "" : encodeCursor(nextSeq, context),
  };
}

// Skips the query for a text that cannot be an intent id.
function isIntentId(text: string): boolean {
  return /^pi_[0-9a-z]{26}$/.test(text);
}
