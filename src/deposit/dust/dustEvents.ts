import { findAsset } from "../../catalog/catalog.ts";
import type { Tx } from "../../db/database.ts";
import type { EventType } from "../../event/event.ts";
import type { IntentRow } from "../../intent/store.ts";
import type { World } from "../../world.ts";
import { depositRecord, type DepositRecord } from "../depositRecord.ts";
import type { ChainHead } from "../finality.ts";
import type { HoldingChange } from "./dust.ts";
import { listLastDust, type DustRow } from "./dustStore.ts";
import { dustDeposit } from "./listDeposits.ts";

/**
 * One event for all dust that counts, or leaves the chain, together. `depositCount` is their number, `amountUnits` and `countedUnits` are
 * their sums, and the other fields are those of the last of them.
 */
export type DustEvent = { type: EventType; object: DepositRecord & { depositCount: number } };

type DustUpdate = { after: IntentRow; holdings: readonly HoldingChange[] };

/** The events of holdings whose counted dust changed, by intent. */
export async function buildDustEvents(
  tx: Tx,
  world: Pick<World, "catalog">,
  { updates, heads }: { updates: readonly DustUpdate[]; heads: ReadonlyMap<string, ChainHead> },
): Promise<Map<string, DustEvent[]>> {
  const changed = updates.flatMap(({ after: intent, holdings }) =>
    holdings
      .filter(({ before, after }) => before.dust_count !== after.dust_count)
      .map((change) => ({ intent, change })),
  );
  if (changed.length === 0) return new Map();
  const lastDust = await listLastDust(
    tx,
    changed.map(({ change }) => change.after),
  );
  const events = changed.flatMap(({ intent, change }): { intentId: string; event: DustEvent }[] => {
    const { after } = change;
    const row = lastDust.find(
      (dust) => dust.intent_id === intent.id && dust.chain === after.chain && dust.token === after.token,
    );
    if (row === undefined) return [];
    const event = toDustEvent(world, {
      intent,
      change,
      row,
      headNumber: heads.get(after.chain)?.number ?? row.block_number,
    });
    return [{ intentId: intent.id, event }];
  });
  return new Map(
    [...Map.groupBy(events, ({ intentId }) => intentId)].map(([id, each]) => [id, each.map(({ event }) => event)]),
  );
}

function toDustEvent(
  world: Pick<World, "catalog">,
  input: { intent: IntentRow; change: HoldingChange; row: DustRow; headNumber: bigint },
): DustEvent {
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
  return {
    type: isCounted ? "deposit.counted" : "deposit.dropped",
    object: { ...object, depositCount: Number(count) },
  };
}
