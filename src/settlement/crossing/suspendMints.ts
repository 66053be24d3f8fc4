import { sql } from "kysely";
import { HAS_OPEN_BURN } from "../../bridge/findBurns.ts";
import { refreshHoldings } from "../../deposit/holding/holdingStore.ts";
import type { Db, Tx } from "../../db/database.ts";
import { array } from "../../db/parameters.ts";
import { lockIntents } from "../../intent/store.ts";
import type { Caip2 } from "../../kernel/caip.ts";
import { addMs } from "../../kernel/clock.ts";
import { recordSuspense } from "../../watch/record/recordSuspense.ts";
import type { World } from "../../world.ts";
import { isOpenSettlement } from "../../deposit/openSettlement.ts";

// Everything in an inbox on its settle chain belongs to its payout, also what a bridge gave for a burn that nobody
// knows: the providers of the burn's chain may be away for days. After an hour such a mint is in suspense. It is
// settled like the inbox's own money, counts nothing towards the price, and the ledger books it from the suspense
// account. The search for the burn goes on. Once a crossing names the mint, it leaves the suspense, the ledger books it
// from the bridge, and the crossing lands with the sweep that has moved it. So does one that other providers show as a
// payment, which then counts as one.

type SuspendWorld = Pick<World, "db" | "clock" | "log">;

const SUSPENDED_AFTER_MS = 3_600_000;
/** A search that has begun may have found the burn and not yet the payment. */
const SEARCHED_AFTER_MS = 2 * SUSPENDED_AFTER_MS;
/** Mints changed per call, of each kind, and those read for them. */
const CHANGED_MAX = 100;
const READ_MAX = 1_000;

type Mint = { mintId: bigint; intentId: string };

/**
 * Puts the mints of a settle chain in suspense that are due, and takes those out whose burns are known. Returns the
 * number changed.
 */
export async function suspendMints(world: SuspendWorld, settleChain: Caip2): Promise<number> {
  const at = world.clock.now();
  const unexplained = await listUnexplained(world.db.root, { settleChain, at });
  const suspended = await changeSuspense(world, { settleChain, isSuspended: true, mints: unexplained, at });
  for (const { mintId, intentId } of suspended)
    world.log.warn(
      { chain: settleChain, mint: mintId, intent: intentId },
      "the burn of a mint is unknown for an hour; what the inbox holds is settled from suspense",
    );
  const explained = await listExplained(world.db.root, settleChain);
  const released = await changeSuspense(world, { settleChain, isSuspended: false, mints: explained, at });
  return suspended.length + released.length;
}

type Change = { settleChain: Caip2; isSuspended: boolean; mints: readonly Mint[]; at: Date };

async function changeSuspense(
  { db }: SuspendWorld,
  { settleChain, isSuspended, mints, at }: Change,
): Promise<readonly Mint[]> {
  if (mints.length === 0) return [];
  return db.transaction(async (tx) => {
    const intentIds = [...new Set(mints.map(({ intentId }) => intentId))];
    let changed: readonly Mint[] = [];
    const lockMints = async () => {
      await lockIntents(tx, intentIds);
      // A settlement that is on its way lands first, because its sweep may have moved the mint.
      const busy = isSuspended ? new Set<string>() : await lockSubmitted(tx, settleChain, intentIds);
      changed = mints.filter(({ intentId }) => !busy.has(intentId));
      return changed.map(({ mintId }) => mintId);
    };
    await recordSuspense(tx, { chain: settleChain, isSuspended, at, lockMints });
    if (changed.length > 0) await refreshHoldings(tx, intentIds);
    return changed;
  });
}

/** Locks the open settlements of inboxes on a chain, and returns the intents of those that were sent. */
async function lockSubmitted(tx: Tx, chain: Caip2, intentIds: readonly string[]): Promise<Set<string>> {
  const { rows } = await sql<{ intentId: string; status: string }>`
    select intent_id as "intentId", status from settlement
    where chain = ${chain} and intent_id = any(${array(intentIds, "text")}) and ${isOpenSettlement("settlement")}
    order by id for update`.execute(tx);
  return new Set(rows.flatMap(({ intentId, status }) => (status === "submitted" ? [intentId] : [])));
}

/** Mints that no crossing has explained for an hour, and that their inboxes still hold. */
async function listUnexplained(db: Db["root"], { settleChain, at }: { settleChain: Caip2; at: Date }): Promise<Mint[]> {
  const { rows } = await sql<Mint>`/* named: list_unexplained_mints */
    select mint.id as "mintId", mint.intent_id as "intentId" from (
      select * from awaited_burn
      where settle_chain = ${settleChain} and suspended_at is null and unexplained_since <= ${addMs(at, -SUSPENDED_AFTER_MS)}
      order by unexplained_since limit ${READ_MAX}
    ) as awaited join movement mint on mint.id = awaited.mint_id
    where mint.orphaned_at is null and mint.direction = 'in' and mint.explained_by is not null
      and (awaited.searched_number is null or awaited.unexplained_since <= ${addMs(at, -SEARCHED_AFTER_MS)})
      and not exists (select from crossing where crossing.settle_chain = mint.chain and crossing.mint = mint.explained_by)
      and not ${HAS_OPEN_BURN}
      and not exists (
        select from movement departure where departure.intent_id = mint.intent_id and departure.chain = mint.chain
          and departure.token = mint.token and departure.direction = 'out' and departure.orphaned_at is null
          and (departure.block_number, departure.place) > (mint.block_number, mint.place))
    limit ${CHANGED_MAX}`.execute(db);
  return rows;
}

/** Mints in suspense that a crossing names, or that were payments when they were read again. */
async function listExplained(db: Db["root"], settleChain: Caip2): Promise<Mint[]> {
  const { rows } = await sql<Mint>`/* named: list_explained_mints */
    select mint.id as "mintId", mint.intent_id as "intentId" from (
      select * from awaited_burn where settle_chain = ${settleChain} and suspended_at is not null order by suspended_at limit ${READ_MAX}
    ) as awaited join movement mint on mint.id = awaited.mint_id
    where mint.explained_by is null
      or exists (select from crossing where crossing.settle_chain = mint.chain and crossing.mint = mint.explained_by)
    limit ${CHANGED_MAX}`.execute(db);
  return rows;
}
