import { cctpV2Speeds } from "@tributary/inbox/cctpV2";
import { sql } from "kysely";
import { findServiceFailure } from "../bridge/askService.ts";
import { listKnownFees } from "../bridge/fees.ts";
import { listRefusedPayers } from "../bridge/refusedPayers.ts";
import { PROOF_REFUSED, QUEUE } from "../bridge/store.ts";
import type { RouteSpeed } from "../catalog/routes.ts";
import { array } from "../db/parameters.ts";
import { addMs, DAY_MS, hasElapsed } from "../kernel/clock.ts";
import type { World } from "../world.ts";
import type { AlarmCondition } from "./alarm.ts";

/** A fast crossing takes minutes. A standard one takes the finality of its chain, which varies. */
const CROSSING_LATE_MS = 3_600_000;
const FINALITIES_LATE = 3;
const NOT_RECEIVED_MS = 900_000;
/** Longer than matching and a first search take. */
const UNKNOWN_BURN_MS = 600_000;
const SERVICE_SILENT_MS = 600_000;
/** A fee above this part of a pinned cap leaves little room for the next rise. */
const NEAR_CAP = { part: 2, parts: 3 } as const;

export type CrossingCheckWorld = Pick<World, "db" | "clock" | "config">;

type Waiting = { chain: string; settleChain: string; count: bigint; intent: string; reason: string | null };

/** The alarms about crossings that wait too long. Reads the open ones only, by their partial indexes. */
export async function checkCrossings(world: CrossingCheckWorld): Promise<AlarmCondition[]> {
  if (world.config.bridge === undefined) return [];
  const [late, unreceived, unknown, postponed] = await Promise.all([
    listLate(world),
    listUnreceived(world),
    listUnknown(world),
    listPostponed(world),
  ]);
  return [
    ...postponed.map((row) =>
      toCondition("crossing_postponed", row.settleChain, { ...row, reason: row.reason ?? "not_landed_yet" }),
    ),
    ...unknown.map(({ chain, burns, ...first }): AlarmCondition => {
      return { alarm: "burn_unknown", subject: chain, facts: { chain, mints: Number(burns), ...first } };
    }),
    ...late.map((row) => toCondition("crossing_late", row.chain, { ...row, reason: row.reason ?? "not_signed_yet" })),
    ...unreceived.map((row) =>
      toCondition("crossing_not_received", row.settleChain, { ...row, reason: row.reason ?? "not_landed_yet" }),
    ),
  ];
}

type NamedWaiting = Waiting & { reason: string };

function toCondition(
  alarm: "crossing_late" | "crossing_not_received" | "crossing_postponed",
  subject: string,
  { chain, settleChain, count, intent, reason }: NamedWaiting,
): AlarmCondition {
  return { alarm, subject, facts: { chain, settleChain, crossings: Number(count), intent, reason } };
}

/** Burns without a proof, by their chain, with the reason of the oldest. */
async function listLate({ db, clock, config }: CrossingCheckWorld): Promise<Waiting[]> {
  const now = clock.now();
  const befores = config.chains.map(({ estimates = {} }) =>
    addMs(now, -(CROSSING_LATE_MS + FINALITIES_LATE * (estimates.finalizedMs ?? 0))).toISOString(),
  );
  const chains = config.chains.map(({ caip2 }) => caip2);
  const { rows } = await sql<Waiting>`
    select crossing.chain, ${OLDEST}
    from crossing left join unnest(${array(chains, "text")}, ${array(befores, "timestamptz")}) as late (chain, before)
      on late.chain = crossing.chain
    where crossing.status = 'burned' and crossing.queue < ${sql.lit(QUEUE.small)}
      and ${isRefused(false)} and crossing.status_since < coalesce(late.before, ${addMs(now, -CROSSING_LATE_MS)}::timestamptz)
    group by crossing.chain`.execute(db.root);
  return rows;
}

/**
 * Proven burns that have not landed, and burns whose proofs the chain refused, by their settle chain, with the reason
 * of the oldest. Those of the second and third queue wait for their turns, and are not among them.
 */
async function listUnreceived({ db, clock }: CrossingCheckWorld): Promise<Waiting[]> {
  const { rows } = await sql<Waiting>`
    select min(crossing.chain) as chain, ${OLDEST}
    from crossing
    where (crossing.status = 'attested' and crossing.queue = ${sql.lit(QUEUE.inTime)}
        or crossing.status = 'burned' and crossing.queue < ${sql.lit(QUEUE.small)} and ${isRefused(true)})
      and crossing.status_since < ${addMs(clock.now(), -NOT_RECEIVED_MS)}
    group by crossing.settle_chain`.execute(db.root);
  return rows;
}

/**
 * Crossings of the first two queues that began more than a day ago, by their settle chain, with the reason of the
 * oldest.
 */
async function listPostponed({ db, clock }: CrossingCheckWorld): Promise<Waiting[]> {
  const { rows } = await sql<Waiting>`
    select min(crossing.chain) as chain, ${OLDEST}
    from crossing
    where (crossing.status = 'attested' and crossing.queue < ${sql.lit(QUEUE.small)}
        or crossing.status = 'burned' and crossing.queue < ${sql.lit(QUEUE.small)})
      and crossing.created_at < ${addMs(clock.now(), -DAY_MS)}
    group by crossing.settle_chain`.execute(db.root);
  return rows;
}

type UnknownBurns = { chain: string; burns: bigint; bridge: string; intent: string; chainTx: string };

/** Mints whose burns are not known, by their settle chain, with the first of them. */
async function listUnknown({ db, clock }: CrossingCheckWorld): Promise<UnknownBurns[]> {
  const { rows } = await sql<UnknownBurns>`
    select mint.chain, count(*) as burns,
      (array_agg(awaited.bridge order by awaited.mint_id))[1] as bridge,
      (array_agg(mint.intent_id order by awaited.mint_id))[1] as intent,
      (array_agg(mint.chain_tx order by awaited.mint_id))[1] as "chainTx"
    from awaited_burn awaited join movement mint on mint.id = awaited.mint_id
    where awaited.unexplained_since < ${addMs(clock.now(), -UNKNOWN_BURN_MS)}
    group by mint.chain`.execute(db.root);
  return rows;
}

function isRefused(isTrue: boolean) {
  return sql`coalesce(crossing.reason like ${`${PROOF_REFUSED}%`}, false) = ${isTrue}`;
}

const OLDEST = sql`min(crossing.settle_chain) as "settleChain", count(*) as count,
  (array_agg(crossing.intent_id order by crossing.status_since, crossing.movement_id))[1] as intent,
  (array_agg(crossing.reason order by crossing.status_since, crossing.movement_id))[1] as reason`;

export type BridgeCheckWorld = Pick<World, "clock" | "config" | "catalog" | "memory">;

/** The alarms about the bridge itself, from what this process has last learned of its service. */
export function checkBridge(world: BridgeCheckWorld): AlarmCondition[] {
  const refused = listRefusedPayers(world).map(({ chain, payer, reason }): AlarmCondition => {
    return { alarm: "bridge_refuses_payer", subject: chain, facts: { chain, payer, reason } };
  });
  return [...checkService(world), ...checkFees(world), ...refused];
}

function checkService(world: BridgeCheckWorld): AlarmCondition[] {
  const failure = findServiceFailure(world);
  const { bridge } = world.config;
  if (bridge === undefined || failure === undefined) return [];
  const { since, reason } = failure;
  if (!hasElapsed(SERVICE_SILENT_MS, { since, now: world.clock.now() })) return [];
  const { host } = new URL(bridge.attestationUrl);
  return [{ alarm: "bridge_unavailable", subject: host, facts: { host, failingSince: since.toISOString(), reason } }];
}

function checkFees(world: BridgeCheckWorld): AlarmCondition[] {
  return listKnownFees(world).flatMap(({ chain, settleChain, fastPpm, standardPpm }) => [
    ...nearCap({ chain, settleChain }, "fast", fastPpm),
    ...nearCap({ chain, settleChain }, "standard", standardPpm),
  ]);
}

function nearCap(
  pair: { chain: string; settleChain: string },
  speed: RouteSpeed,
  feePpm: number | undefined,
): AlarmCondition[] {
  const capPpm = cctpV2Speeds[speed].feePpmMax;
  if (feePpm === undefined || feePpm * NEAR_CAP.parts < capPpm * NEAR_CAP.part) return [];
  const subject = `${pair.chain} ${pair.settleChain} ${speed}`;
  return [{ alarm: "bridge_fee_near_cap", subject, facts: { ...pair, speed, feePpm, capPpm } }];
}
