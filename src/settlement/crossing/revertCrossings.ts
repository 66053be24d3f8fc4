import { sql } from "kysely";
import type { Tx } from "../../db/database.ts";
import { array, unnest } from "../../db/parameters.ts";
import type { IntentRow } from "../../intent/store.ts";
import type { Caip2 } from "../../kernel/caip.ts";
import type { MovementRow } from "../../watch/movement.ts";
import { insertUnmatchedMints } from "../../watch/store/unmatchedMintStore.ts";
import type { World } from "../../world.ts";
import { revertCrossing, splitSweep, sweepKey, type SettlementRow, type Sweep } from "../settlement.ts";
import { SettlementChanges } from "../change/settlementChanges.ts";
import { shareSweep, type Mint } from "../shareSweep.ts";
import { writeCrossingChanges } from "./crossingChanges.ts";

type SweepName = { intent_id: string; token: string; chain_tx: string };

type ShownSweeps = {
  settleChain: Caip2;
  /** Whose landings are judged, by their sweeps. */
  names: readonly SweepName[];
  /** What the settle chain shows of them, by sweepKey. A sweep that is gone is absent. */
  sweeps: ReadonlyMap<string, Sweep>;
  /** By sweepKey. */
  mintsOf: ReadonlyMap<string, readonly Mint[]>;
  /** Locked by the caller. */
  intents: ReadonlyMap<string, IntentRow>;
  at: Date;
};

/** A settlement that landed across chains, with the mint that it landed by. */
type LandedCrossing = {
  before: SettlementRow;
  mint: { id: bigint; token: string; feeUnits: bigint | null } | undefined;
};

/**
 * Takes settlements back to `bridging` that landed with these sweeps and whose mint is not in them any more, or whose
 * share of them is another one: a block may be replaced at its height, with the same transactions in another order.
 * They land again with the sweep that has their mint.
 */
export async function revertCrossings(tx: Tx, world: Pick<World, "entropy">, shown: ShownSweeps): Promise<void> {
  const { intents, at } = shown;
  const changes = new SettlementChanges(at, intents.values());
  const wrong = (await lockLandedCrossings(tx, shown)).filter((landed) => !hasLandedRight(landed, shown));
  for (const { before } of wrong) changes.add(before, revertCrossing(before, at));
  await writeCrossingChanges(tx, world, { changes, status: "attested", at });
  await awaitMintsOf(
    tx,
    wrong.flatMap(({ before }) => before.burn_id ?? []),
    at,
  );
}

function hasLandedRight({ before, mint }: LandedCrossing, { sweeps, mintsOf, intents }: ShownSweeps): boolean {
  if (mint === undefined) return false;
  const key = sweepKey({ ...before, token: mint.token, chain_tx: before.landed_chain_tx ?? "" });
  const [sweep, intent] = [sweeps.get(key), intents.get(before.intent_id)];
  if (sweep === undefined || intent === undefined) return false;
  const share = shareSweep(splitSweep(sweep, intent), mintsOf.get(key) ?? []).crossed.get(mint.id);
  return (
    share !== undefined &&
    share.netUnits === before.net_units &&
    share.feeUnits === before.fee_units &&
    mint.feeUnits === before.route_cost_units &&
    sweep.blockNumber === before.landed_block_number
  );
}

/** Of one token of a transaction only, when its mint is known. */
async function lockLandedCrossings(tx: Tx, { settleChain, names }: ShownSweeps): Promise<LandedCrossing[]> {
  if (names.length === 0) return [];
  const { rows } = await sql<
    SettlementRow & { mint_id: bigint | null; mint_token: string; mint_fee_units: bigint | null }
  >`
    select settlement.*, mint.id as mint_id, mint.token as mint_token, mint.bridge_fee_units as mint_fee_units
    from (select distinct * from ${unnest("name", names, { intent_id: "text", token: "text", chain_tx: "text" })}) as named
    cross join lateral (
      select * from settlement
      where settlement.landed_chain = ${settleChain} and settlement.landed_chain_tx = named.chain_tx
        and settlement.intent_id = named.intent_id
      offset 0 for update
    ) as settlement
    left join lateral (
      select movement.id, movement.token, movement.bridge_fee_units from crossing join movement
        on movement.chain = ${settleChain} and movement.explained_by = crossing.mint and movement.direction = 'in'
          and movement.intent_id = crossing.intent_id
      where crossing.movement_id = settlement.burn_id
      order by movement.orphaned_at is not null limit 1
    ) as mint on true
    where mint.token is null or mint.token = named.token
    order by settlement.id`.execute(tx);
  const landed = rows.map(({ mint_id, mint_token, mint_fee_units, ...before }): LandedCrossing => {
    const mint = mint_id === null ? undefined : { id: mint_id, token: mint_token, feeUnits: mint_fee_units };
    return { before, mint };
  });
  return [...new Map(landed.map((each) => [each.before.id, each])).values()];
}

/** The mints of crossings that are to land again. */
async function awaitMintsOf(tx: Tx, burnIds: readonly bigint[], at: Date): Promise<void> {
  if (burnIds.length === 0) return;
  const { rows } = await sql<MovementRow>`
    select mint.* from unnest(${array(burnIds, "int8")}) as burn (id) join crossing on crossing.movement_id = burn.id
    cross join lateral (
      select * from movement where movement.chain = crossing.settle_chain and movement.explained_by = crossing.mint
        and movement.direction = 'in' offset 0
    ) as mint`.execute(tx);
  await insertUnmatchedMints(tx, rows, at);
}
