import type { Selectable } from "kysely";
import type { SettlementTable } from "./settlementTables.ts";
import type { IntentRow } from "../intent/store.ts";
import type { MovementRow } from "../watch/movement.ts";
import type { Caip2 } from "../kernel/caip.ts";
import { feeOf } from "../kernel/units.ts";
import type { SweepShare } from "./shareSweep.ts";
import { backoffMs } from "../kernel/clock.ts";
import { OPEN_SETTLEMENT_STATES } from "../deposit/openSettlement.ts";

export type SettlementRow = Selectable<SettlementTable>;
/** A settlement without `seq`, which the database assigns. */
export type Settlement = Omit<SettlementRow, "seq">;

/**
 * Whether the inbox waits for this settlement. The database allows one at a time for each inbox and token. What a
 * bridge carries is in no inbox.
 */
export function isOpen({ status }: Pick<Settlement, "status">): boolean {
  return OPEN_SETTLEMENT_STATES.some((open) => open === status);
}

/**
 * What one transaction moved out of one inbox in one token, by the token's own transfers: everything, or up to one burn
 * where a bridge took units, because each burn arrives on the settle chain for itself.
 */
export type Sweep = {
  intentId: string;
  chain: MovementRow["chain"];
  token: string;
  chainTx: string;
  /** The movement by which a bridge took units; null for a sweep to payout and fee recipient. */
  burnId: bigint | null;
  blockNumber: bigint;
  placeFirst: bigint;
  /** Place of its last transfer: the sweep took everything that came in between the previous sweep and this place. */
  placeLast: bigint;
  /** In the order of their places. */
  legs: readonly SweepLeg[];
  /** By how much the fees of its netted batches exceed what the hub paid for these batches. */
  excessFeeUnits: bigint;
};

/**
 * `feeUnits`: the fee in a transfer that the hub netted; null where the chain shows no payment of the hub. `bridge`:
 * the bridge that took the units for another chain, as the movement names it; null for any other transfer.
 */
export type SweepLeg = {
  movementId: bigint;
  to: string;
  amountUnits: bigint;
  feeUnits: bigint | null;
  bridge: string | null;
};

/** Groups movements out of inboxes by sweep; orphaned ones are left out. */
export function groupSweeps(movements: readonly MovementRow[]): Sweep[] {
  const live = movements.filter((movement) => movement.orphaned_at === null);
  const excessOf = computeExcessFees(live);
  return [...Map.groupBy(live, sweepKey).values()].flatMap(splitAtBurns).flatMap((ordered) => {
    const [first, last] = [ordered[0], ordered.at(-1)];
    if (first === undefined || last === undefined) return [];
    return {
      intentId: last.intent_id,
      chain: last.chain,
      token: last.token,
      chainTx: last.chain_tx,
      burnId: ordered.find(isBurn)?.id ?? null,
      blockNumber: last.block_number,
      placeFirst: first.place,
      placeLast: last.place,
      legs: ordered.map((leg) => ({
        movementId: leg.id,
        to: leg.counterparty,
        amountUnits: leg.amount_units,
        feeUnits: leg.fee_units,
        bridge: leg.explained_by,
      })),
      excessFeeUnits: [...new Set(ordered.map(batchKey))].reduce((sum, key) => sum + (excessOf.get(key) ?? 0n), 0n),
    };
  });
}

/**
 * Ends a part at each burn, in the order of the places. What the recovery key moves after the last burn joins the last
 * part.
 */
function splitAtBurns(legs: readonly MovementRow[]): MovementRow[][] {
  const parts: MovementRow[][] = [];
  let isEnded = true;
  for (const leg of legs.toSorted((a, b) => (a.place < b.place ? -1 : 1))) {
    if (isEnded) parts.push([]);
    parts.at(-1)?.push(leg);
    isEnded = isBurn(leg);
  }
  const rest = parts.length > 1 && !isEnded ? (parts.pop() ?? []) : [];
  parts.at(-1)?.push(...rest);
  return parts;
}

/** Whether a bridge took the units of a movement out of an inbox. */
function isBurn({ explained_by }: MovementRow): boolean {
  return explained_by !== null;
}

/**
 * By batch. The fees of a batch may be lower than what the hub paid, because strangers can net inboxes of their own
 * with it. They are higher only if the recovery key sent an inbox's money to the hub before the batch, or if the
 * provider's answer was false.
 */
function computeExcessFees(movements: readonly MovementRow[]): Map<string, bigint> {
  const netted = movements.filter(({ batch_place }) => batch_place !== null);
  return new Map(
    [...Map.groupBy(netted, batchKey)].map(([key, pulls]) => {
      const feeUnits = pulls.reduce((sum, { fee_units }) => sum + (fee_units ?? 0n), 0n);
      const paidUnits = pulls[0]?.batch_fee_units ?? 0n;
      return [key, feeUnits > paidUnits ? feeUnits - paidUnits : 0n];
    }),
  );
}

function batchKey({ chain_tx, token, batch_place }: MovementRow): string {
  return `${chain_tx}/${token}/${batch_place ?? ""}`;
}

/** Names the sweeps of an inbox in one transaction. */
export function sweepKey(sweep: { intent_id: string; token: string; chain_tx: string }): string {
  return `${sweep.intent_id}/${sweep.token}/${sweep.chain_tx}`;
}

export function keyOfSweep({ intentId, token, chainTx }: Pick<Sweep, "intentId" | "token" | "chainTx">): string {
  return sweepKey({ intent_id: intentId, token, chain_tx: chainTx });
}

export type SweepSplit = {
  grossUnits: bigint;
  feeUnits: bigint;
  netUnits: bigint;
  otherRecipientUnits: bigint;
  /**
   * The part of the gross that went to the hub, of which the chain shows no payment. It counts as settled without a
   * fee.
   */
  unpaidUnits: bigint;
};

type PinnedPayout = Pick<IntentRow, "payout_wallet" | "fee_recipient" | "fee_bps" | "inbox_hub">;

/**
 * How a sweep was split, by the recipients of its transfers. A fee leg that failed on chain is absent. The hub netted
 * the money that it received with other inboxes, and the watch station read from its payments which fee is in it.
 * `otherRecipientUnits` went elsewhere, which only the recovery key can do, and is no part of the gross.
 */
export function splitSweep(sweep: Sweep, intent: PinnedPayout): SweepSplit {
  const sumTo = (to: string) => sweep.legs.reduce((sum, leg) => (leg.to === to ? sum + leg.amountUnits : sum), 0n);
  const movedUnits = sweep.legs.reduce((sum, leg) => sum + leg.amountUnits, 0n);
  const isShared = intent.payout_wallet === intent.fee_recipient;
  const viaHub = sweep.legs.filter((leg) => leg.to === intent.inbox_hub);
  const viaHubUnits = sumTo(intent.inbox_hub);
  const nettedFeeUnits = viaHub.reduce((sum, { feeUnits }) => sum + (feeUnits ?? 0n), 0n);
  const unpaidUnits = viaHub.reduce((sum, leg) => (leg.feeUnits === null ? sum + leg.amountUnits : sum), 0n);
  const paidFeeUnits = isShared ? sharedFeeUnits(sweep, intent) : sumTo(intent.fee_recipient);
  const feeUnits = paidFeeUnits + nettedFeeUnits;
  const grossUnits = viaHubUnits + sumTo(intent.payout_wallet) + (isShared ? 0n : paidFeeUnits);
  const otherRecipientUnits = movedUnits - grossUnits;
  return { grossUnits, feeUnits, netUnits: grossUnits - feeUnits, otherRecipientUnits, unpaidUnits };
}

/**
 * The fees of a wallet that receives both payout and fee. Each settlement pays the payout first: a transfer is a fee if
 * it is the share of itself and the payout before it.
 */
function sharedFeeUnits({ legs }: Sweep, intent: PinnedPayout): bigint {
  let feeUnits = 0n;
  let payoutUnits: bigint | undefined;
  for (const { to, amountUnits } of legs) {
    if (to !== intent.payout_wallet) continue;
    const isFee = payoutUnits !== undefined && feeOf(payoutUnits + amountUnits, 0n, intent.fee_bps) === amountUnits;
    if (isFee) feeUnits += amountUnits;
    payoutUnits = isFee ? undefined : amountUnits;
  }
  return feeUnits;
}

/**
 * The reason of a landed settlement whose payout is partly or wholly missing: the recovery key sent that part
 * elsewhere.
 */
const RESCUED = "rescued";

/** Marks a settlement that the chain shows as landed with its share of a sweep. */
export function markLanded(
  settlement: Settlement,
  sweep: Sweep,
  context: { share: SweepShare; isRescued: boolean; at: Date },
): Settlement {
  const { netUnits, feeUnits } = context.share;
  return {
    ...settlement,
    status: "landed",
    gross_units: netUnits + feeUnits,
    fee_units: feeUnits,
    route_cost_units: 0n,
    net_units: netUnits,
    reason: context.isRescued ? RESCUED : null,
    chain_tx: sweep.chainTx,
    burn_id: null,
    block_number: sweep.blockNumber,
    retry_at: null,
    landed_at: settlement.landed_at ?? context.at,
    updated_at: context.at,
  };
}

/** Marks a settlement whose money a bridge has taken from its inbox. It waits for no inbox any more. */
export function markBridging(settlement: Settlement, sweep: Sweep, at: Date): Settlement {
  return {
    ...settlement,
    status: "bridging",
    reason: null,
    chain_tx: sweep.chainTx,
    burn_id: sweep.burnId,
    block_number: sweep.blockNumber,
    retry_at: null,
    submitted_at: settlement.submitted_at ?? at,
    updated_at: at,
  };
}

/**
 * Marks a bridged settlement that landed with its share of a sweep on the settle chain. `routeCostUnits`: what the
 * bridge kept.
 */
export function markCrossingLanded(
  settlement: Settlement,
  sweep: Sweep,
  context: { share: SweepShare; routeCostUnits: bigint; isRescued: boolean; at: Date },
): Settlement {
  const { netUnits, feeUnits } = context.share;
  return {
    ...settlement,
    status: "landed",
    gross_units: netUnits + feeUnits + context.routeCostUnits,
    fee_units: feeUnits,
    route_cost_units: context.routeCostUnits,
    net_units: netUnits,
    reason: context.isRescued ? RESCUED : null,
    landed_chain: sweep.chain,
    landed_chain_tx: sweep.chainTx,
    landed_block_number: sweep.blockNumber,
    landed_at: settlement.landed_at ?? context.at,
    updated_at: context.at,
  };
}

const NOT_LANDED = {
  gross_units: null,
  fee_units: null,
  route_cost_units: null,
  net_units: null,
  landed_chain: null,
  landed_chain_tx: null,
  landed_block_number: null,
  landed_at: null,
} as const;

/** Takes a bridged settlement back whose sweep on the settle chain a reorg dropped. */
export function revertCrossing(settlement: Settlement, at: Date): Settlement {
  return { ...settlement, ...NOT_LANDED, status: "bridging", reason: null, updated_at: at };
}

/**
 * Takes a settlement back that landed with a sweep, because bridged settlements moved all of it: their mints were found
 * later.
 */
export function markSweptByBridge(settlement: Settlement, at: Date): Settlement {
  return { ...settlement, ...NOT_LANDED, status: "failed", reason: "bridged", outgoing_id: null, updated_at: at };
}

/**
 * Reverts a landed or bridging settlement whose transaction a reorg dropped: ours will be mined again, a stranger's may
 * not.
 */
export function revertLanding(settlement: Settlement, context: { isInboxBusy: boolean; at: Date }): Settlement {
  const cleared = { ...NOT_LANDED, block_number: null, updated_at: context.at };
  const isOurs = settlement.outgoing_id !== null && !context.isInboxBusy;
  return isOurs
    ? { ...settlement, ...cleared, status: "submitted", reason: null, chain_tx: null, burn_id: null }
    : { ...settlement, ...cleared, status: "failed", reason: "reorg" };
}

/** Longest wait between two attempts for a failing inbox, in milliseconds. */
export const RETRY_MS_MAX = 3_600_000;
const RETRY_MS_FIRST = 5_000;
/** Attempts until a settlement shows as held. Attempts continue, at the longest wait. */
const TRIES_UNTIL_HELD = 4;

/** The state after an attempt that moved nothing. The money stays in the inbox, so it is retried with growing waits. */
export function afterFailedAttempt(
  settlement: Settlement,
  context: { reason: string; at: Date; addMs: (at: Date, ms: number) => Date },
): Settlement {
  const attempts = settlement.attempts + 1;
  const waitMs = backoffMs(settlement.attempts, { firstMs: RETRY_MS_FIRST, maxMs: RETRY_MS_MAX, factor: 4 });
  return {
    ...settlement,
    status: attempts >= TRIES_UNTIL_HELD ? "held" : "planned",
    reason: context.reason,
    attempts,
    outgoing_id: null,
    submitted_at: null,
    retry_at: context.addMs(context.at, waitMs),
    updated_at: context.at,
  };
}

/** A planned settlement, with only its inbox known. */
export function newSettlement(input: {
  id: string;
  intentId: string;
  chain: Caip2;
  token: string;
  at: Date;
}): Settlement {
  return {
    id: input.id,
    intent_id: input.intentId,
    chain: input.chain,
    token: input.token,
    status: "planned",
    gross_units: null,
    fee_units: null,
    route_cost_units: null,
    net_units: null,
    reason: null,
    outgoing_id: null,
    chain_tx: null,
    burn_id: null,
    block_number: null,
    attempts: 0,
    retry_at: null,
    created_at: input.at,
    submitted_at: null,
    landed_at: null,
    landed_chain: null,
    landed_chain_tx: null,
    landed_block_number: null,
    updated_at: input.at,
  };
}
