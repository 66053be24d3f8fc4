import { sql, type RawBuilder } from "kysely";
import { PROOF_REFUSED, QUEUE } from "../bridge/store.ts";
import { array } from "../db/parameters.ts";
import type { Caip2 } from "../kernel/caip.ts";
import { addMs, DAY_MS } from "../kernel/clock.ts";
import { HAS_OPEN_BURN } from "../bridge/findBurns.ts";
import type { World } from "../world.ts";

/** A fast crossing takes minutes. A standard one takes the finality of its chain, which varies. */
const CROSSING_LATE_MS = 3_600_000;
const FINALITIES_LATE = 3;
const NOT_RECEIVED_MS = 900_000;
/** Longer than matching and a first search take. */
const UNKNOWN_BURN_MS = 600_000;

export type CrossingWorld = Pick<World, "db" | "clock" | "config">;

/** Crossings that wait too long, with the reason of the oldest. */
export type WaitingCrossings = {
  chain: string;
  settleChain: string;
  count: bigint;
  intent: string;
  reason: string | null;
};

/** The crossings that wait too long. Reads the open ones only, by their partial indexes. */
export async function readWaitingCrossings(world: CrossingWorld) {
  const [late, unreceived, unknown, postponed] = await Promise.all([
    listLate(world),
    listUnreceived(world),
    listUnknown(world),
    listPostponed(world),
  ]);
  return { late, unreceived, unknown, postponed };
}

type OpenCrossings = { chain: Caip2; status: string; count: number; oldest: Date };

/** The open crossings without the small ones, by the partial index of each state. */
export async function countOpenCrossings({ db, config }: Pick<World, "db" | "config">): Promise<OpenCrossings[]> {
  if (config.bridge === undefined) return [];
  const { rows } = await sql<Omit<OpenCrossings, "count"> & { count: bigint }>`
    select chain, status, count(*) as count, min(created_at) as oldest from crossing
      where status = 'burned' and queue < ${sql.lit(QUEUE.small)} group by chain, status
    union all
    select chain, status, count(*), min(created_at) from crossing
      where status = 'attested' and queue < ${sql.lit(QUEUE.small)} group by chain, status`.execute(db.root);
  return rows.map(({ count, ...row }) => ({ ...row, count: Number(count) }));
}

/** Burns without a proof, by their chain, with the reason of the oldest. */
async function listLate({ db, clock, config }: CrossingWorld): Promise<WaitingCrossings[]> {
  const now = clock.now();
  const befores = config.chains.map(({ estimates = {} }) =>
    addMs(now, -(CROSSING_LATE_MS + FINALITIES_LATE * (estimates.finalizedMs ?? 0))).toISOString(),
  );
  const chains = config.chains.map(({ caip2 }) => caip2);
  const { rows } = await sql<WaitingCrossings>`
    select crossing.chain, ${OLDEST}
    from crossing left join unnest(${array(chains, "text")}, ${array(befores, "timestamptz")}) as late (chain, before)
      on late.chain = crossing.chain
    where ${IS_BURNED} and ${isRefused(false)} and crossing.status_since < coalesce(late.before, ${addMs(now, -CROSSING_LATE_MS)}::timestamptz)
    group by crossing.chain`.execute(db.root);
  return rows;
}

/**
 * Proven burns that have not landed, and burns whose proofs the chain refused. Those of the second and third queue wait
 * for their turns, and are not among them.
 */
function listUnreceived({ db, clock }: CrossingWorld): Promise<WaitingCrossings[]> {
  return listBySettleChain(
    db,
    sql`(crossing.status = 'attested' and crossing.queue = ${sql.lit(QUEUE.inTime)} or ${IS_BURNED} and ${isRefused(true)})
      and crossing.status_since < ${addMs(clock.now(), -NOT_RECEIVED_MS)}`,
  );
}

/** Crossings of the first two queues that began more than a day ago. */
function listPostponed({ db, clock }: CrossingWorld): Promise<WaitingCrossings[]> {
  return listBySettleChain(
    db,
    sql`(crossing.status = 'attested' and crossing.queue < ${sql.lit(QUEUE.small)} or ${IS_BURNED})
      and crossing.created_at < ${addMs(clock.now(), -DAY_MS)}`,
  );
}

/** Crossings by their settle chain, with the reason of the oldest. */
async function listBySettleChain(db: World["db"], isWaiting: RawBuilder<unknown>): Promise<WaitingCrossings[]> {
  const { rows } = await sql<WaitingCrossings>`
    select min(crossing.chain) as chain, ${OLDEST} from crossing where ${isWaiting}
    group by crossing.settle_chain`.execute(db.root);
  return rows;
}

type UnknownBurns = { chain: string; burns: bigint; bridge: string; intent: string; chainTx: string };

/** Mints whose burns are not known, by their settle chain, with the first of them. */
async function listUnknown({ db, clock }: CrossingWorld): Promise<UnknownBurns[]> {
  const { rows } = await sql<UnknownBurns>`
    select mint.chain, count(*) as burns,
      (array_agg(awaited.bridge order by awaited.mint_id))[1] as bridge,
      (array_agg(mint.intent_id order by awaited.mint_id))[1] as intent,
      (array_agg(mint.chain_tx order by awaited.mint_id))[1] as "chainTx"
    from awaited_burn awaited join movement mint on mint.id = awaited.mint_id
    where awaited.unexplained_since < ${addMs(clock.now(), -UNKNOWN_BURN_MS)} and not ${HAS_OPEN_BURN}
    group by mint.chain`.execute(db.root);
  return rows;
}

const IS_BURNED = sql`crossing.status = 'burned' and crossing.queue < ${sql.lit(QUEUE.small)}`;

function isRefused(isTrue: boolean) {
  return sql`coalesce(crossing.reason like ${`${PROOF_REFUSED}%`}, false) = ${isTrue}`;
}

const OLDEST = sql`min(crossing.settle_chain) as "settleChain", count(*) as count,
  (array_agg(crossing.intent_id order by crossing.status_since, crossing.movement_id))[1] as intent,
  (array_agg(crossing.reason order by crossing.status_since, crossing.movement_id))[1] as reason`;
