import { sql } from "kysely";
import type { Chain } from "../../chain/chain.ts";
import { perChain } from "../perChain.ts";
import type { BlockRange } from "../../chain/reader.ts";
import type { Db } from "../../db/database.ts";
import type { Caip2 } from "../../kernel/caip.ts";
import { highestOf } from "../../kernel/extremes.ts";
import { blocksIn, type BlockSpan } from "../blockTime.ts";
import type { MovementRow } from "../movement.ts";
import type { ComparedBalance } from "../reconcile/comparedBalance.ts";
import { readPart } from "../search/readPart.ts";
import { ONLY_ARRIVALS, searchTransfers } from "../search/searchTransfers.ts";
import type { WatchWorld } from "../watchWorld.ts";
import type { KnownBlock } from "../store/store.ts";

/**
 * What is below the newest recorded transfer is read where it explains nothing: a provider may list an earlier one
 * late.
 */
const OVERLAP: BlockSpan = { ms: 120_000, min: 300, max: 2_000 };
/**
 * Requests for one inbox in one step. An inbox with many transfers takes several steps, between which others have their
 * turn.
 */
const ATTEMPTS_MAX = 4;

/** Up to which block the transfers of an inbox were read in parts, by inbox, token and provider. */
const partlyReadUpTo = perChain(() => new Map<string, bigint>());

/** `isPartial`: more is to be read. `recorded`: the new movements. */
export type FoundDeposits = { isPartial: boolean; recorded: readonly MovementRow[] };

/** Records the deposits of one inbox since its newest recorded one, the oldest first. */
export async function findDeposits(
  world: WatchWorld,
  chain: Chain,
  { cursor, balance }: { cursor: KnownBlock; balance: ComparedBalance },
): Promise<FoundDeposits> {
  const partlyRead = partlyReadUpTo(world, chain);
  const key = `${balance.inbox} ${balance.token} ${balance.provider}`;
  const newest = await findNewestBlock(world.db, { chain: chain.caip2, balance });
  const start = highestOf(newest, partlyRead.get(key) ?? 0n);
  const found = await recordRange(world, chain, { range: { fromBlock: start, toBlock: cursor.number }, balance });
  const isPartial = found.readTo < cursor.number;
  if (isPartial) partlyRead.set(key, found.readTo + 1n);
  else partlyRead.delete(key);
  const { recorded } = found;
  // A balance may be newer than what was read; the next blocks then explain it.
  if (isPartial || recorded.length > 0 || balance.blockNumber > cursor.number || newest === 0n)
    return { isPartial, recorded };
  const overlap = blocksIn(world, chain, OVERLAP);
  const fromBlock = newest > overlap ? newest - overlap : 0n;
  const range = { fromBlock, toBlock: cursor.number };
  return { isPartial: false, recorded: (await recordRange(world, chain, { range, balance })).recorded };
}

/** Records the oldest part of a range. `readTo`: its last block. */
async function recordRange(
  world: WatchWorld,
  chain: Chain,
  { range, balance: { inbox, token, provider } }: { range: BlockRange; balance: ComparedBalance },
): Promise<{ readTo: bigint; recorded: readonly MovementRow[] }> {
  const found = await readPart(range, { end: "oldest", attemptsMax: ATTEMPTS_MAX }, (part) =>
    searchTransfers(world, chain, {
      read: (reader) => reader.transfers(part, [token], [inbox]),
      // The provider that shows the balance explains it. Another one may hide both.
      from: provider === undefined ? "first" : { named: [provider] },
      // What left the inbox is listed with the settlements, and needs no balance to be found.
      required: ONLY_ARRIVALS,
      parties: [inbox],
      skipsRecorded: true,
    }),
  );
  return { readTo: found?.part.toBlock ?? range.fromBlock - 1n, recorded: found?.answer.recorded ?? [] };
}

/**
 * The block of the newest recorded deposit. A settlement that was listed first may have taken one that is not recorded
 * yet.
 */
async function findNewestBlock(
  db: Db,
  { chain, balance: { intentId, inbox, token } }: { chain: Caip2; balance: ComparedBalance },
): Promise<bigint> {
  const { rows } = await sql<{ number: bigint }>`/* named: newest_movement_of_inbox */
    select block_number as number from movement
    where intent_id = ${intentId} and chain = ${chain} and token = ${token} and inbox = ${inbox} and direction = 'in'
      and orphaned_at is null
    order by block_number desc limit 1`.execute(db.root);
  return rows[0]?.number ?? 0n;
}
