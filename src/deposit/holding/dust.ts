import type { Selectable } from "kysely";
import type { HoldingTable } from "../depositTables.ts";
import { isPriceReached } from "../../intent/paymentStatus.ts";
import type { PayoutPath } from "../../intent/routes/payoutPath.ts";
import type { IntentRow } from "../../intent/store.ts";
import { convertUnits } from "../../kernel/units.ts";
import type { MovementRow } from "../../watch/movement.ts";

// Dust: a transfer into an inbox that is below the intent's minimum and does not reach its price alone. Anybody can
// send any number of them for almost nothing, so dust has no row and no event of its own. Each inbox holds sums
// instead, and dust counts by whole blocks.

/**
 * Whether a transfer into an inbox is below the minimum and does not reach the price alone. In an asset without a path
 * to the payout the same amount at par decides; without known decimals none is.
 */
export function isBelowMinimum(
  intent: IntentRow,
  transfer: Pick<MovementRow, "amount_units">,
  { path, tokenDecimals }: { path: PayoutPath | undefined; tokenDecimals: number | undefined },
): boolean {
  const { minimum_units: minimum, payout_decimals: decimals, price_token_units: price } = intent;
  if (path === undefined) {
    if (tokenDecimals === undefined) return false;
    return transfer.amount_units * 10n ** BigInt(decimals) < minimum * 10n ** BigInt(tokenDecimals);
  }
  if (transfer.amount_units >= path.minimumUnits) return false;
  const units = convertUnits(transfer.amount_units, path.decimals, decimals);
  return price === null || !isPriceReached(price, intent.underpay_tolerance_bps, units);
}

/** What an inbox holds in one token. Only this station writes it, under the intent's lock. */
export type Holding = Selectable<HoldingTable>;

/** The dust of one block in one inbox and token: its number, its sum, and the part that no sweep has taken. */
export type DustBlock = { blockNumber: bigint; count: bigint; units: bigint; heldUnits: bigint };

/** One holding before and after a change. */
export type HoldingChange = { before: Holding; after: Holding };

/**
 * Adds final blocks of dust, in ascending order, to a holding whose sums then reach `uptoBlock`. Waiting dust counts at
 * the block in which it reaches the minimum. Whole blocks decide, so the result does not depend on how many blocks a
 * call adds. What was found late in counted blocks counts at once. Without a minimum nothing counts.
 */
export function addDustBlocks(
  holding: Holding,
  input: { blocks: readonly DustBlock[]; uptoBlock: bigint; minimumUnits: bigint | undefined; at: Date },
): Holding {
  const { minimumUnits } = input;
  let sums = minimumUnits === undefined ? holding : countLateDust(holding, input.at);
  for (const block of input.blocks) {
    sums = {
      ...sums,
      dust_block: block.blockNumber,
      waiting_count: sums.waiting_count + block.count,
      waiting_units: sums.waiting_units + block.units,
      waiting_held_units: sums.waiting_held_units + block.heldUnits,
    };
    if (minimumUnits !== undefined && sums.waiting_units >= minimumUnits) sums = countWaitingDust(sums, input.at);
  }
  return { ...sums, dust_block: input.uptoBlock };
}

/** A holding before the sums of any block. */
export function withoutDust(holding: Holding): Holding {
  return {
    ...holding,
    dust_from: 0n,
    dust_block: -1n,
    waiting_count: 0n,
    waiting_units: 0n,
    waiting_held_units: 0n,
    late_count: 0n,
    late_units: 0n,
    late_held_units: 0n,
    counted_block: -1n,
    verified_block: -1n,
    dust_count: 0n,
    dust_units: 0n,
    dust_held_units: 0n,
  };
}

/**
 * A holding from which sums are computed again over these blocks. What counted stays while its blocks hold as much: dust
 * that was found late in them waits beside it, and takes nothing away. Otherwise nothing is counted at first.
 */
export function restartSums(before: Holding, blocks: readonly DustBlock[]): Holding {
  const empty = { ...withoutDust(before), is_stale: false };
  const counted = blocks.filter(({ blockNumber }) => blockNumber <= before.counted_block);
  const sumOf = (part: "count" | "units" | "heldUnits") => counted.reduce((sum, block) => sum + block[part], 0n);
  const lateCount = sumOf("count") - before.dust_count;
  const lateUnits = sumOf("units") - before.dust_units;
  if (before.counted_block < 0n || lateCount < 0n || lateUnits < 0n) return empty;
  const heldUnits = sumOf("heldUnits");
  // As if the late part were the last to leave, so that what counted is never taken for more than is there.
  const lateHeldUnits = heldUnits < lateUnits ? heldUnits : lateUnits;
  return {
    ...empty,
    dust_block: before.counted_block,
    counted_block: before.counted_block,
    waiting_count: lateCount,
    waiting_units: lateUnits,
    waiting_held_units: lateHeldUnits,
    late_count: lateCount,
    late_units: lateUnits,
    late_held_units: lateHeldUnits,
    dust_count: before.dust_count,
    dust_units: before.dust_units,
    dust_held_units: heldUnits - lateHeldUnits,
  };
}

/** Counts what was found late in blocks that have counted: it would have counted with them. */
function countLateDust(holding: Holding, at: Date): Holding {
  if (holding.late_count === 0n) return holding;
  const { late_count, late_units, late_held_units } = holding;
  return {
    ...holding,
    waiting_count: holding.waiting_count - late_count,
    waiting_units: holding.waiting_units - late_units,
    waiting_held_units: holding.waiting_held_units - late_held_units,
    late_count: 0n,
    late_units: 0n,
    late_held_units: 0n,
    dust_count: holding.dust_count + late_count,
    dust_units: holding.dust_units + late_units,
    dust_held_units: holding.dust_held_units + late_held_units,
    dust_counted_at: at,
  };
}

/** Counts all waiting dust: it reached the minimum, or completes the price. Returns the same object when none waits. */
export function countWaitingDust(holding: Holding, at: Date): Holding {
  if (holding.waiting_count === 0n) return holding;
  return {
    ...holding,
    waiting_count: 0n,
    waiting_units: 0n,
    waiting_held_units: 0n,
    late_count: 0n,
    late_units: 0n,
    late_held_units: 0n,
    counted_block: holding.dust_block,
    dust_count: holding.dust_count + holding.waiting_count,
    dust_units: holding.dust_units + holding.waiting_units,
    dust_held_units: holding.dust_held_units + holding.waiting_held_units,
    dust_counted_at: at,
  };
}

/** Final dust of a holding that adds to the intent's received amount. */
export function receivedDustUnits(holding: Holding): bigint {
  return holding.waiting_units + holding.dust_units;
}
