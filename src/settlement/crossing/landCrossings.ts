import { sql } from "kysely";
import type { Db, Tx } from "../../db/database.ts";
import { array, unnest } from "../../db/parameters.ts";
import { lockIntents } from "../../intent/store.ts";
import type { Caip2 } from "../../kernel/caip.ts";
import { deleteUnmatchedMints } from "../../watch/store/unmatchedMintStore.ts";
import type { World } from "../../world.ts";
import { listWaitingSweeps, sweepAgreementsTopic } from "../agreement/openAgreements.ts";
import { SettlementChanges } from "../change/settlementChanges.ts";
import { listSweepLegs, preferIndexScans } from "../sweep/sweepReads.ts";
import { groupSweeps, keyOfSweep, markCrossingLanded, splitSweep, sweepKey, type Sweep } from "../settlement.ts";
import { lockSettlements } from "../store.ts";
import { writeCrossingChanges } from "./crossingChanges.ts";
import { listLandingCorrections, releaseDeposits } from "./correctLandings.ts";
import { revertCrossings } from "./revertCrossings.ts";
import { shareSweep, type Mint } from "../shareSweep.ts";

type LandWorld = Pick<World, "db" | "clock" | "entropy" | "catalog" | "wake">;

/** Crossings landed per transaction. */
const LANDED_MAX = 100;

/** A crossing whose mint a sweep of the settle chain has moved on. */
type SweptCrossing = {
  settlementId: string;
  mintId: bigint;
  intentId: string;
  token: string;
  sweepTx: string;
};

/**
 * Lands the bridged settlements whose money a sweep on the settle chain moved, whoever made it. Mint and sweep are read
 * from the recorded movements, so it does not matter which of burn, mint and sweep was seen first. What landed by a
 * mint that was recorded again is judged anew first. Returns the number landed.
 */
export async function landCrossings(world: LandWorld, settleChain: Caip2): Promise<number> {
  await reviewLandings(world, settleChain);
  const found = await listSweptCrossings(world.db.root, { settleChain, limit: LANDED_MAX });
  if (found.length === 0) return 0;
  const { landed, waiting } = await world.db.transaction((tx) => landFound(tx, world, { settleChain, found }));
  if (waiting > 0) world.wake.notify(sweepAgreementsTopic(settleChain));
  return landed;
}

/** A crossing that landed, and whose mint was recorded again since: at another place, or as gone. */
type RecordedAgain = { mintId: bigint; intentId: string; token: string; landedTx: string };

async function reviewLandings(world: LandWorld, settleChain: Caip2): Promise<void> {
  const found = await listRecordedAgain(world.db.root, { settleChain, limit: LANDED_MAX });
  if (found.length === 0) return;
  await world.db.transaction(async (tx) => {
    await preferIndexScans(tx);
    const intentIds = [...new Set(found.map(({ intentId }) => intentId))];
    const intents = new Map((await lockIntents(tx, intentIds)).map((intent) => [intent.id, intent]));
    const again = await listRecordedAgain(tx, { settleChain, limit: LANDED_MAX, intentIds });
    // Those that are to land again are noted anew.
    await deleteUnmatchedMints(
      tx,
      again.map(({ mintId }) => mintId),
    );
    const names = again.map(({ intentId, token, landedTx }) => ({ intent_id: intentId, token, chain_tx: landedTx }));
    const legs = await listSweepLegs(tx, {
      chain: settleChain,
      chainTxs: [...new Set(again.map((each) => each.landedTx))],
    });
    const shown = groupSweeps(legs);
    const sweeps = new Map(shown.map((sweep) => [keyOfSweep(sweep), sweep]));
    const mintsOf = await listMintsOfSweeps(tx, settleChain, shown);
    await revertCrossings(tx, world, { settleChain, names, sweeps, mintsOf, intents, at: world.clock.now() });
  });
}

async function listRecordedAgain(
  db: Db["root"],
  { settleChain, limit, intentIds }: { settleChain: Caip2; limit: number; intentIds?: readonly string[] },
): Promise<RecordedAgain[]> {
  const isAsked =
    intentIds === undefined ? sql<boolean>`true` : sql<boolean>`crossing.intent_id = any(${array(intentIds, "text")})`;
  const { rows } = await sql<RecordedAgain>`
    select mint.id as "mintId", mint.intent_id as "intentId", mint.token, settlement.landed_chain_tx as "landedTx"
    from awaited_burn awaited
    cross join lateral (
      select id, chain, intent_id, token, explained_by from movement where movement.id = awaited.mint_id
    ) as mint
    join crossing on crossing.settle_chain = mint.chain and crossing.mint = mint.explained_by and crossing.status = 'landed'
      and crossing.intent_id = mint.intent_id
    cross join lateral (
      select settlement.landed_chain_tx from settlement where settlement.chain = crossing.chain
        and settlement.chain_tx = crossing.chain_tx and settlement.intent_id = crossing.intent_id
        and settlement.token = crossing.token and settlement.burn_id = crossing.movement_id and settlement.status = 'landed'
      offset 0
    ) as settlement
    where awaited.settle_chain = ${settleChain} and ${isAsked}
    order by crossing.movement_id limit ${limit}`.execute(db);
  return rows;
}

async function landFound(
  tx: Tx,
  world: LandWorld,
  { settleChain, found }: { settleChain: Caip2; found: readonly SweptCrossing[] },
): Promise<{ landed: number; waiting: number }> {
  const at = world.clock.now();
  await preferIndexScans(tx);
  const intentIds = [...new Set(found.map(({ intentId }) => intentId))];
  const intents = new Map((await lockIntents(tx, intentIds)).map((intent) => [intent.id, intent]));
  // Under the locks again: another process may have landed them, or a reorganisation dropped a sweep.
  const swept = await listSweptCrossings(tx, { settleChain, limit: LANDED_MAX, intentIds });
  const settlements = new Map(
    (
      await lockSettlements(
        tx,
        swept.map(({ settlementId }) => settlementId),
        ["bridging"],
      )
    ).map((row) => [row.id, row]),
  );
  const names = swept
    .filter(({ intentId }) => intents.has(intentId))
    .map(({ intentId, token, sweepTx }) => ({ intent_id: intentId, token, chain_tx: sweepTx }));
  const legs = await listSweepLegs(tx, {
    chain: settleChain,
    chainTxs: [...new Set(names.map(({ chain_tx }) => chain_tx))],
  });
  const waiting = await listWaitingSweeps(tx, world, { chain: settleChain, names, legs, at });
  const sweeps = new Map(
    groupSweeps(legs)
      .map((sweep) => [keyOfSweep(sweep), sweep] as const)
      .filter(([key]) => !waiting.has(key)),
  );
  const mintsOf = await listMintsOfSweeps(tx, settleChain, [...sweeps.values()]);
  const changes = new SettlementChanges(at, intents.values());
  const corrections = await listLandingCorrections(tx, {
    chain: settleChain,
    sweeps: [...sweeps.values()],
    intents,
    mintsOf,
    at,
  });
  for (const { before, after } of corrections) changes.add(before, after);
  const landedMints: bigint[] = [];
  for (const { settlementId, mintId, intentId, token, sweepTx } of swept) {
    const key = sweepKey({ intent_id: intentId, token, chain_tx: sweepTx });
    const [before, intent, sweep] = [settlements.get(settlementId), intents.get(intentId), sweeps.get(key)];
    if (before === undefined || intent === undefined || sweep === undefined) continue;
    const split = splitSweep(sweep, intent);
    const mints = mintsOf.get(key) ?? [];
    const [mint, share] = [mints.find(({ id }) => id === mintId), shareSweep(split, mints).crossed.get(mintId)];
    if (mint === undefined || share === undefined) continue;
    const isRescued = split.otherRecipientUnits !== 0n;
    changes.add(
      before,
      markCrossingLanded(before, sweep, { share, routeCostUnits: mint.bridgeFeeUnits, isRescued, at }),
    );
    landedMints.push(mintId);
  }
  await writeCrossingChanges(tx, world, { changes, status: "landed", at });
  await deleteUnmatchedMints(tx, landedMints);
  await releaseDeposits(tx, { chain: settleChain, corrections });
  return { landed: changes.settlements.length, waiting: waiting.size };
}

/**
 * Attested crossings whose mint is in a later sweep of the inbox. Reads in proportion to the recorded mints that have
 * not landed: there are as many proven burns that nobody received as strangers care to make.
 */
async function listSweptCrossings(
  db: Db["root"],
  { settleChain, limit, intentIds }: { settleChain: Caip2; limit: number; intentIds?: readonly string[] },
): Promise<SweptCrossing[]> {
  const isAsked =
    intentIds === undefined ? sql<boolean>`true` : sql<boolean>`crossing.intent_id = any(${array(intentIds, "text")})`;
  const { rows } = await sql<SweptCrossing>`
    select settlement.id as "settlementId", mint.id as "mintId", crossing.intent_id as "intentId",
      mint.token, sweep.chain_tx as "sweepTx"
    from awaited_burn awaited
    cross join lateral (
      select id, chain, intent_id, token, explained_by, block_number, place from movement
      where movement.id = awaited.mint_id and movement.orphaned_at is null and not movement.in_suspense
    ) as mint
    join crossing on crossing.settle_chain = mint.chain and crossing.mint = mint.explained_by and crossing.status = 'attested'
      and crossing.intent_id = mint.intent_id
    join settlement on settlement.chain = crossing.chain and settlement.chain_tx = crossing.chain_tx
      and settlement.intent_id = crossing.intent_id and settlement.token = crossing.token
      and settlement.burn_id = crossing.movement_id and settlement.status = 'bridging'
    cross join lateral (
      select chain_tx from movement departure
      where departure.intent_id = crossing.intent_id and departure.chain = crossing.settle_chain and departure.token = mint.token
        and departure.direction = 'out' and departure.orphaned_at is null
        and (departure.block_number, departure.place) > (mint.block_number, mint.place)
      order by departure.block_number, departure.place limit 1
    ) as sweep
    where mint.chain = ${settleChain} and ${isAsked}
      and not exists (select from sweep_agreement agreement
        where agreement.chain = crossing.settle_chain and agreement.chain_tx = sweep.chain_tx and agreement.intent_id = crossing.intent_id
          and agreement.token = mint.token and agreement.state = 'asking')
    order by crossing.movement_id limit ${limit}`.execute(db);
  return rows;
}

/**
 * The mints that each sweep moved on, in the order of the chain: those since the previous sweep of the inbox. A mint in
 * suspense belongs to the inbox until its burn is found.
 */
export async function listMintsOfSweeps(tx: Tx, chain: Caip2, sweeps: readonly Sweep[]): Promise<Map<string, Mint[]>> {
  if (sweeps.length === 0) return new Map();
  const named = sweeps.map(({ intentId, token, chainTx, blockNumber, placeLast }) => ({
    intent_id: intentId,
    token,
    chain_tx: chainTx,
    block_number: blockNumber,
    place: placeLast,
  }));
  const { rows } = await sql<Mint & { intent_id: string; token: string; chain_tx: string }>`
    select sweep.intent_id, sweep.token, sweep.chain_tx, mint.id, mint.explained_by as name, mint.amount_units as units,
      mint.bridge_fee_units as "bridgeFeeUnits"
    from ${unnest("sweep", named, { intent_id: "text", token: "text", chain_tx: "text", block_number: "int8", place: "int8" })}
    left join lateral (
      select departure.block_number, departure.place from movement departure
      where departure.intent_id = sweep.intent_id and departure.chain = ${chain} and departure.token = sweep.token
        and departure.direction = 'out' and departure.orphaned_at is null and departure.chain_tx <> sweep.chain_tx
        and (departure.block_number, departure.place) < (sweep.block_number, sweep.place)
      order by departure.block_number desc, departure.place desc limit 1
    ) as previous on true
    cross join lateral (
      select * from movement
      where movement.intent_id = sweep.intent_id and movement.chain = ${chain} and movement.token = sweep.token
        and movement.explained_by is not null and movement.direction = 'in' and movement.orphaned_at is null and not movement.in_suspense
        and (movement.block_number, movement.place) < (sweep.block_number, sweep.place)
        and (movement.block_number, movement.place) > (coalesce(previous.block_number, -1), coalesce(previous.place, -1))
      offset 0
    ) as mint
    order by mint.block_number, mint.place`.execute(tx);
  return Map.groupBy(rows, sweepKey);
}
