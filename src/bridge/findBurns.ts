import { sql, type RawBuilder } from "kysely";
import { findWatchedChain } from "../catalog/catalog.ts";
import type { Chain } from "../chain/chain.ts";
import type { Db } from "../db/database.ts";
import { isDue } from "../db/due.ts";
import { listInboxesOnChain } from "../intent/inboxStore.ts";
import { warnRepeated } from "../kernel/alarm/repeatedWarning.ts";
import { backoffMs, addMs } from "../kernel/clock.ts";
import { SEARCH_PAUSE_MS, searchInbox } from "../watch/reconcile/searchDifference.ts";
import type { WatchWorld } from "../watch/watchWorld.ts";
import {
  UNMATCHED_WAIT_MS_MAX,
  claimUnmatchedMint,
  deleteUnmatchedMints,
  postponeUnmatchedMints,
  writeBurnSearch,
  type UnmatchedMint,
} from "../watch/store/unmatchedMintStore.ts";
import { findCursor } from "../watch/store/store.ts";

// A provider that hides a payment and the burn that took it leaves the inbox as empty as the books say. Only the mint
// on the settle chain shows both. So each mint is matched with a crossing, and the inbox of an unmatched one is
// searched on the burn's chain.

type DueMint = { mintId: bigint; isOver: boolean; isKnown: boolean; isOpen: boolean };

/** Mints matched per call. */
const MATCHED_MAX = 100;
const CLAIM_MS = 120_000;
const SEARCH_AGAIN_MS_MIN = 120_000;

/**
 * SQL: whether the proof of an open burn of the same inbox and amount may name `mint` yet. Such a mint is not unknown,
 * whatever the times beside it say: the clock may have stepped since they were written.
 */
export const HAS_OPEN_BURN: RawBuilder<boolean> = sql`exists (
  select from crossing where crossing.intent_id = mint.intent_id and crossing.settle_chain = mint.chain
    and crossing.status = 'burned' and crossing.mint is null and crossing.units = mint.amount_units + mint.bridge_fee_units)`;

/**
 * Forgets the mints whose burns on this chain are known, and continues the search for one other. It records the
 * transfers of that inbox which the chain shows, so the crossing begins as any other. Throws ProviderFailed when no
 * provider answers.
 */
export async function findBurns(world: WatchWorld, chain: Chain): Promise<void> {
  const domain = findWatchedChain(world.catalog, chain.caip2)?.cctp?.domain;
  if (domain === undefined) return;
  const bridge = `cctp-v2/${domain}`;
  const at = world.clock.now();
  const mints = await listDueMints(world.db, { bridge, at });
  const idsOf = (isChosen: (mint: DueMint) => boolean) => mints.filter(isChosen).map(({ mintId }) => mintId);
  await deleteUnmatchedMints(
    world.db.root,
    idsOf(({ isOver }) => isOver),
  );
  await postponeUnmatchedMints(
    world.db,
    idsOf(({ isOver, isKnown, isOpen }) => !isOver && (isKnown || isOpen)),
    at,
  );
  const awaited = await claimUnmatchedMint(world.db, { bridge, at, claimedUntil: addMs(at, CLAIM_MS) });
  if (awaited === undefined) return;
  await searchBurn(world, chain, awaited);
}

function warnUnknown(world: WatchWorld, { mint_id: mintId, intent_id, inbox }: UnmatchedMint): void {
  warnRepeated(world, {
    key: `burn of mint ${mintId}`,
    fields: { intent: intent_id, inbox, mint: String(mintId) },
    message: "a bridge gave an inbox money for a burn that no provider has reported; it is searched",
  });
}

/**
 * The due mints. `isOver`: a reorganisation dropped it, and nothing has landed by it; or it was a payment when it was
 * read again. `isKnown`: a crossing names it, or it has to leave the suspense first.
 * `isOpen`: the proof of an open burn of the same inbox and amount may name it yet. A search that has begun ends first:
 * it may have found the burn and not yet the payment.
 */
async function listDueMints(db: Db, { bridge, at }: { bridge: string; at: Date }): Promise<DueMint[]> {
  const { rows } = await sql<DueMint>`/* named: list_due_mints */
    select awaited.mint_id as "mintId",
      mint.orphaned_at is not null and coalesce(known.status <> 'landed', true)
        or mint.explained_by is null and not mint.in_suspense as "isOver",
      known.status is not null or mint.in_suspense and mint.explained_by is null as "isKnown",
      ${HAS_OPEN_BURN} as "isOpen"
    from (
      select mint_id from awaited_burn
      where bridge = ${bridge} and searched_number is null and ${isDue("next_at", { now: at, waitMsMax: UNMATCHED_WAIT_MS_MAX })}
      order by next_at limit ${MATCHED_MAX}
    ) as awaited
    join movement mint on mint.id = awaited.mint_id
    left join lateral (
      select status from crossing where crossing.settle_chain = mint.chain and crossing.mint = mint.explained_by limit 1
    ) as known on true`.execute(db.root);
  return rows;
}

async function searchBurn(world: WatchWorld, chain: Chain, awaited: UnmatchedMint): Promise<void> {
  const { intent_id, lowest_number } = awaited;
  // On the burn's chain the intent may have another inbox.
  const [inbox] = await listInboxesOnChain(world.db, { chain: chain.caip2, intentId: intent_id });
  const cursor = await findCursor(world.db, chain.caip2);
  if (cursor === undefined || inbox === undefined) return;
  if (awaited.searched_number === null) warnUnknown(world, awaited);
  const { recorded, searchedNumber, lowestNumber } = await searchInbox(world, chain, {
    intent_id,
    inbox,
    searched_number: awaited.searched_number ?? cursor.number + 1n,
    lowest_number,
  });
  const at = world.clock.now();
  const hasEnded = searchedNumber <= lowestNumber;
  // What was found becomes a crossing soon.
  const attempts = recorded.length > 0 ? 0 : awaited.attempts;
  const pauseMs = backoffMs(attempts, { firstMs: SEARCH_AGAIN_MS_MIN, maxMs: UNMATCHED_WAIT_MS_MAX });
  await writeBurnSearch(world.db, awaited, {
    searchedNumber: hasEnded ? null : searchedNumber,
    lowestNumber,
    attempts: hasEnded ? attempts + 1 : attempts,
    nextAt: addMs(at, hasEnded ? pauseMs : SEARCH_PAUSE_MS),
    foundAt: recorded.length > 0 ? at : undefined,
  });
}
