import { findAsset } from "../../catalog/catalog.ts";
import type { Tx } from "../../db/database.ts";
import type { IntentRow } from "../../intent/store.ts";
import type { World } from "../../world.ts";
import { depositRecord, type DepositRecord } from "../depositRecord.ts";
import type { IntentFacts } from "./facts.ts";
import type { HoldingChange } from "../holding/dust.ts";
import { listLastDust, type DustRow } from "../holding/dustReads.ts";
import { dustDeposit } from "../listDeposits.ts";

/**
 * The object of the one event for all dust that counts, or leaves the chain, together. `depositCount` is their number,
 * `amountUnits` and `countedUnits` are their sums, and the other fields are those of the last of them.
 */
type DustRecord = DepositRecord & { depositCount: number };

export type DustEvents = ReadonlyMap<HoldingChange, DustRecord>;

type DustUpdate = { after: IntentRow; holdings: readonly HoldingChange[]; facts: Pick<IntentFacts, "chains"> };

/** The objects of the events of holdings whose counted dust changed. */
export async function buildDustEvents(
  tx: Tx,
  world: Pick<World, "catalog">,
  updates: readonly DustUpdate[],
): Promise<DustEvents> {
  const changed = updates.flatMap(({ after: intent, holdings, facts }) =>
    holdings
      .filter(({ before, after }) => before.dust_count !== after.dust_count)
      .map((change) => ({ intent, change, head: facts.chains.get(change.after.chain)?.head })),
  );
  if (changed.length === 0) return new Map();
  const lastDust = await listLastDust(
    tx,
    changed.map(({ change }) => change.after),
  );
  return new Map(
    changed.flatMap(({ intent, change, head }) => {
      const { chain, token } = change.after;
      const row = lastDust.find((dust) => dust.intent_id === intent.id && dust.chain === chain && dust.token === token);
      if (row === undefined) return [];
      const headNumber = head?.number ?? row.block_number;
      return [[change, toDustRecord(world, { intent, change, row, headNumber })] as const];
    }),
  );
}

function toDustRecord(
  world: Pick<World, "catalog">,
  input: { intent: IntentRow; change: HoldingChange; row: DustRow; headNumber: bigint },
): DustRecord {
  const { intent, row, headNumber } = input;
  const { before, after } = input.change;
  const isCounted = after.dust_count > before.dust_count;
  const count = isCounted ? after.dust_count - before.dust_count : before.dust_count - after.dust_count;
  const units = isCounted ? after.dust_units - before.dust_units : before.dust_units - after.dust_units;
  const shown = dustDeposit(world.catalog, { intent, row });
  const object = depositRecord(
    {
      ...shown,
      status: isCounted ? "counted" : "dropped",
      reason: isCounted ? null : "reorg",
      amount_units: units,
      counted_units: isCounted ? units : 0n,
      counted_at: isCounted ? after.dust_counted_at : null,
    },
    { symbol: findAsset(world.catalog, row.chain, row.token)?.symbol ?? row.token, headNumber },
  );
  return { ...object, depositCount: Number(count) };
}
