import { sql, type Selectable } from "kysely";
import type { Db, Tx } from "../../db/database.ts";
import { isDue } from "../../db/due.ts";
import { array } from "../../db/parameters.ts";
import type { UnmatchedMintTable } from "../watchTables.ts";
import { addMs } from "../../kernel/clock.ts";
import type { MovementRow } from "../movement.ts";

// Mints wait here until the crossings that they end have landed, and are judged here anew when they are recorded again.
// The bridge station looks for the burns of those that
// no crossing names.

export type UnmatchedMint = Selectable<UnmatchedMintTable> & Pick<MovementRow, "intent_id" | "inbox">;

/** A crossing's proof is stored before its mint, or soon after a stranger's. */
const MATCHED_AFTER_MS = 60_000;
/** The longest pause between two searches, in milliseconds. */
export const UNMATCHED_WAIT_MS_MAX = 3_600_000;

const due = (at: Date) => isDue("next_at", { now: at, waitMsMax: UNMATCHED_WAIT_MS_MAX });

/** Notes the mints among recorded movements, also those that are gone. A known one stays as it is. */
export async function insertUnmatchedMints(tx: Tx, movements: readonly MovementRow[], at: Date): Promise<void> {
  const mints = movements.filter(({ direction, explained_by }) => direction === "in" && explained_by !== null);
  if (mints.length === 0) return;
  const next_at = addMs(at, MATCHED_AFTER_MS);
  await tx
    .insertInto("awaited_burn")
    .values(
      mints.map(({ id, chain, explained_by, in_suspense }) => {
        const bridge = explained_by?.replace(/\/[^/]*$/, "") ?? "";
        // A mint that was gone for a while may still be in suspense.
        const suspended_at = in_suspense ? at : null;
        return { mint_id: id, settle_chain: chain, bridge, next_at, unexplained_since: at, suspended_at };
      }),
    )
    .onConflict((conflict) => conflict.column("mint_id").doNothing())
    .execute();
}

/**
 * Takes the mint of a bridge's chain that has been due for the longest time, so that no other process searches for its
 * burn meanwhile.
 */
export async function claimUnmatchedMint(
  db: Db,
  { bridge, at, claimedUntil }: { bridge: string; at: Date; claimedUntil: Date },
): Promise<UnmatchedMint | undefined> {
  const { rows } = await sql<UnmatchedMint>`/* named: claim_awaited_burn */
    update awaited_burn set next_at = ${claimedUntil}
    from movement as mint
    where awaited_burn.mint_id = (
        select mint_id from awaited_burn where bridge = ${bridge} and ${due(at)} order by next_at limit 1 for update skip locked)
      and mint.id = awaited_burn.mint_id
    returning awaited_burn.*, mint.intent_id, mint.inbox`.execute(db.root);
  return rows[0];
}

/**
 * Stores how far a search is. `searchedNumber` null: it has ended, and the next one starts at `nextAt`. `foundAt`: when
 * it found something, which becomes a crossing soon.
 */
export async function writeBurnSearch(
  db: Db,
  { mint_id }: Pick<UnmatchedMint, "mint_id">,
  progress: {
    searchedNumber: bigint | null;
    lowestNumber: bigint;
    attempts: number;
    nextAt: Date;
    foundAt?: Date | undefined;
  },
): Promise<void> {
  const { searchedNumber, lowestNumber, attempts, nextAt, foundAt } = progress;
  await db.root
    .updateTable("awaited_burn")
    .set({
      searched_number: searchedNumber,
      lowest_number: lowestNumber,
      attempts,
      next_at: nextAt,
      ...(foundAt && { unexplained_since: foundAt }),
    })
    .where("mint_id", "=", mint_id)
    .execute();
}

/** Postpones mints that crossings name, or that open burns may explain. */
export async function postponeUnmatchedMints(db: Db, mintIds: readonly bigint[], at: Date): Promise<void> {
  if (mintIds.length === 0) return;
  await sql`
    update awaited_burn set next_at = ${addMs(at, MATCHED_AFTER_MS)}, unexplained_since = ${at}
    where mint_id = any(${array(mintIds, "int8")})`.execute(db.root);
}

/** Notes since when mints are in suspense; undefined takes them out. */
export async function writeSuspended(tx: Tx, mintIds: readonly bigint[], suspendedAt: Date | undefined): Promise<void> {
  await sql`
    update awaited_burn set suspended_at = ${suspendedAt ?? null}::timestamptz where mint_id = any(${array(mintIds, "int8")})`.execute(
    tx,
  );
}

/** Forgets mints whose crossings have landed, or which the chain no longer shows. */
export async function deleteUnmatchedMints(db: Db["root"] | Tx, mintIds: readonly bigint[]): Promise<void> {
  if (mintIds.length === 0) return;
  await sql`delete from awaited_burn where mint_id = any(${array(mintIds, "int8")})`.execute(db);
}
