import { sql } from "kysely";
import type { Chain } from "../../chain/chain.ts";
import { findLatestRewind } from "../../event/epoch/epochStore.ts";
import { watchEpoch } from "../../event/epoch/watchEpoch.ts";
import type { Db } from "../../db/database.ts";
import type { Caip2 } from "../../kernel/caip.ts";
import { DAY_MS, hasElapsed } from "../../kernel/clock.ts";
import type { MemorySlot } from "../../kernel/processMemory.ts";
import { handedOver } from "../../watch/store/namedIndexes.ts";
import type { World } from "../../world.ts";

type RewindWorld = Pick<World, "db" | "clock" | "memory">;

/** What a process knows of a chain since the database lost commits: its head then, and whether it was read up to there. */
type Reading = { epoch: number; head: bigint; isDone: boolean };
const READINGS: MemorySlot<Map<Caip2, Reading>> = { create: () => new Map() };

/**
 * Whether the rows show what left the inboxes before the database lost commits. Until then they hold money that has
 * left, and its second transaction would cost a fee and move nothing. After a day without progress it is sent all the
 * same.
 */
export async function hasReadSinceRewind(world: RewindWorld, chain: Chain): Promise<boolean> {
  // The loop that watches the epoch may come later than this.
  const { epoch } = await watchEpoch(world);
  if (epoch === 0) return true;
  const readings = world.memory.get(READINGS);
  const known = readings.get(chain.caip2);
  if (known?.epoch === epoch && known.isDone) return true;
  const rewind = await findLatestRewind(world.db);
  if (rewind === undefined || hasElapsed(DAY_MS, { since: rewind.beganAt, now: world.clock.now() })) return true;
  const head = known?.epoch === epoch ? known.head : await findHead(chain);
  const isDone = await isHandedOver(world.db, { chain: chain.caip2, head });
  readings.set(chain.caip2, { epoch, head, isDone });
  return isDone;
}

/** The highest of all providers: a lagging one has not seen the last transactions. */
async function findHead({ providers }: Chain): Promise<bigint> {
  const replies = await providers.runAll((reader) => reader.head("latest"));
  const heads = replies.flatMap((reply) => ("answer" in reply ? [reply.answer.number] : []));
  if (heads.length > 0) return heads.reduce((highest, head) => (head > highest ? head : highest));
  return (await providers.run((reader) => reader.head("latest"))).number;
}

/** Whether a chain is recorded up to a block, and settlement has taken every movement out of inboxes. */
async function isHandedOver(db: Db, { chain, head }: { chain: Caip2; head: bigint }): Promise<boolean> {
  const { rows } = await sql<{ isHandedOver: boolean }>`
    select not exists (select from movement where ${handedOver(chain, "out")}
        and (revision, id) > (coalesce(taken.revision, 0), coalesce(taken.movement_id, 0))) as "isHandedOver"
    from chain_cursor as cursor left join settlement_cursor as taken on taken.chain = cursor.chain
    where cursor.chain = ${chain} and cursor.number >= ${head}::bigint`.execute(db.root);
  return rows[0]?.isHandedOver === true;
}
