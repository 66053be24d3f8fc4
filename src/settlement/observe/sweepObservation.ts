import { refreshHeldDust, refreshHoldings, refreshRemainders } from "../../deposit/holding/holdingStore.ts";
import { assignSweptDeposits, type SweptRange } from "../../deposit/store.ts";
import { deleteCrossings, insertCrossings, type Burn } from "../../bridge/store.ts";
import type { Tx } from "../../db/database.ts";
import type { IntentRow } from "../../intent/store.ts";
import type { Caip2 } from "../../kernel/caip.ts";
import { newId } from "../../kernel/ids.ts";
import type { World } from "../../world.ts";
import { payoutChain } from "../../intent/payoutAsset.ts";
import { shareSweep, type Mint } from "../shareSweep.ts";
import { newSettlement } from "../settlement.ts";
import type { SettlementChanges } from "../change/settlementChanges.ts";
import {
  isOpen,
  markSweptByBridge,
  markBridging,
  markLanded,
  revertLanding,
  splitSweep,
  sweepKey,
  type Settlement,
  type SettlementRow,
  type Sweep,
  type SweepSplit,
} from "../settlement.ts";
import { listSweepArrivals } from "../sweep/sweepReads.ts";

type SweepName = { intent_id: string; token: string; chain_tx: string };
/**
 * `settlementId`: the settlement of the inbox's own deposits; undefined where the sweep moved only what a bridge gave.
 */
type LandedSweep = { sweep: Sweep; split: SweepSplit; settlementId: string | undefined };

/**
 * A sweep that moved something else than its payout and fee, or another amount than came in. Amounts in smallest units
 * of the token.
 */
export type SweepFinding = {
  sweep: Sweep;
  settlementId: string | undefined;
  movedUnits: bigint;
  /** Undefined when too many transfers came in to add them up. */
  arrivedUnits: bigint | undefined;
  otherRecipientUnits: bigint;
  /** See SweepSplit. */
  unpaidUnits: bigint;
};

/** Above and below every place: such a range has no deposits. */
const NO_PLACE = { blockNumber: -1n, place: -1n };

/**
 * One transaction's observation of several sweeps. It applies them in memory, to locked intents and settlements, and
 * then writes the result with a fixed number of statements.
 */
export class SweepObservation {
  readonly #world: Pick<World, "entropy">;
  readonly #chain: Caip2;
  readonly #at: Date;
  readonly #changes: SettlementChanges;
  /** By inbox, in the order of planning. */
  readonly #settlements: Map<string, Settlement[]>;
  /** The sweep of each changed settlement; undefined where a reorg dropped it. */
  readonly #sweeps = new Map<string, LandedSweep | undefined>();
  readonly #burns: Burn[] = [];
  readonly #vanishedBurns: bigint[] = [];
  /** The inboxes with changed sweeps. */
  readonly #inboxes = new Map<string, { intent_id: string; chain: Caip2; token: string }>();
  /** Sweeps that moved only what bridges gave. */
  readonly #withoutSettlement: LandedSweep[] = [];

  constructor(
    world: Pick<World, "entropy">,
    locked: { chain: Caip2; at: Date; changes: SettlementChanges; settlements: readonly SettlementRow[] },
  ) {
    this.#world = world;
    this.#chain = locked.chain;
    this.#at = locked.at;
    this.#changes = locked.changes;
    this.#settlements = Map.groupBy(locked.settlements.map(withoutSeq), inboxKey);
  }

  /** `mints`: what a bridge gave the inbox since its previous sweep. */
  applySweep(sweep: Sweep, mints: readonly Mint[]): void {
    const intent = this.#changes.intents.get(sweep.intentId);
    if (intent === undefined) return;
    if (sweep.burnId !== null) return this.#applyBurn(intent, sweep);
    const split = splitSweep(sweep, intent);
    const { own } = shareSweep(split, mints);
    if (own === undefined) {
      this.#revertLanding(sweep);
      this.#withoutSettlement.push({ sweep, split, settlementId: undefined });
      return;
    }
    const before = this.#settlementOf(sweep);
    const id = newId("set", this.#world.entropy);
    const isRescued = split.otherRecipientUnits !== 0n;
    const planned = before ?? newSettlement({ ...sweep, id, at: this.#at });
    const after = markLanded(planned, sweep, { share: own, isRescued, at: this.#at });
    this.#change(before, after);
    this.#sweeps.set(after.id, { sweep, split, settlementId: after.id });
  }

  /** A sweep that was observed without the mints in it has landed as the inbox's own. */
  #revertLanding({ intentId, token, chainTx }: Sweep): void {
    const landed = this.#ofInbox({ intent_id: intentId, token }).find(
      ({ chain_tx, status }) => chain_tx === chainTx && status === "landed",
    );
    if (landed === undefined) return;
    this.#change(landed, markSweptByBridge(landed, this.#at));
    this.#sweeps.set(landed.id, undefined);
  }

  /**
   * A bridge took the inbox's balance, or as much as it takes at once. The settlement lands with a sweep on the settle
   * chain.
   */
  #applyBurn(intent: IntentRow, sweep: Sweep): void {
    const before = this.#settlementOf(sweep);
    const planned = before ?? newSettlement({ ...sweep, id: newId("set", this.#world.entropy), at: this.#at });
    const after =
      planned.status === "landed"
        ? { ...planned, block_number: sweep.blockNumber }
        : markBridging(planned, sweep, this.#at);
    this.#change(before, after);
    const taken = sweep.legs.flatMap(({ movementId, amountUnits, bridge }) =>
      bridge === null ? [] : [{ movement_id: movementId, units: amountUnits, bridge }],
    );
    const { intentId, chain, chainTx, token } = sweep;
    const burn = { intent_id: intentId, chain, chain_tx: chainTx, token, settle_chain: payoutChain(intent) };
    this.#burns.push(...taken.map((each) => ({ ...burn, ...each })));
    const grossUnits = sweep.legs.reduce((sum, { amountUnits }) => sum + amountUnits, 0n);
    const split = { grossUnits, netUnits: grossUnits, feeUnits: 0n, otherRecipientUnits: 0n, unpaidUnits: 0n };
    this.#sweeps.set(after.id, { sweep, split, settlementId: after.id });
  }

  /** Reverts the settlements of an inbox in a transaction whose sweeps are not among those that the chain shows. */
  revertVanished(name: SweepName, sweeps: readonly Sweep[]): void {
    const { intent_id, token } = name;
    this.#inboxes.set(inboxKey(name), { intent_id, chain: this.#chain, token });
    const burnIds = new Set(sweeps.map(({ burnId }) => burnId));
    const ofTransaction = this.#ofInbox(name).filter(({ chain_tx }) => chain_tx === name.chain_tx);
    for (const settlement of ofTransaction) if (!burnIds.has(settlement.burn_id)) this.#revert(settlement);
  }

  #revert(before: Settlement): void {
    const intent = this.#changes.intents.get(before.intent_id);
    if (before.status !== "landed" && before.status !== "bridging") return;
    // A bridge that gave the units bears the loss.
    if (intent === undefined || before.landed_chain !== null) return;
    if (before.burn_id !== null) this.#vanishedBurns.push(before.burn_id);
    const isInboxBusy = this.#ofInbox(before).some(isOpen);
    this.#change(before, revertLanding(before, { isInboxBusy, at: this.#at }));
    this.#sweeps.set(before.id, undefined);
  }

  /** Writes the results, and returns what is remarkable about the sweeps. */
  async write(tx: Tx): Promise<SweepFinding[]> {
    const landed = [...[...this.#sweeps.values()].filter((each) => each !== undefined), ...this.#withoutSettlement];
    const arrivals = await listSweepArrivals(
      tx,
      this.#chain,
      landed.map(({ sweep }) => sweep),
    );
    const { settlements } = this.#changes;
    await this.#changes.writeSettlements(tx);
    await deleteCrossings(tx, this.#vanishedBurns);
    await insertCrossings(tx, this.#burns, this.#at);
    const previousOf = new Map(landed.map(({ settlementId }, index) => [settlementId, arrivals[index]?.previous]));
    const ranges = settlements.map((settlement): SweptRange => {
      const sweep = this.#sweeps.get(settlement.id)?.sweep;
      const before = sweep === undefined ? NO_PLACE : { blockNumber: sweep.blockNumber, place: sweep.placeLast };
      const after = previousOf.get(settlement.id) ?? NO_PLACE;
      return { settlementId: settlement.id, intentId: settlement.intent_id, token: settlement.token, after, before };
    });
    await assignSweptDeposits(tx, this.#chain, ranges);
    await this.#changes.writeTotals(tx);
    const intentIds = [...this.#changes.intents.keys()];
    await refreshHeldDust(tx, intentIds);
    await refreshRemainders(tx, [...this.#inboxes.values()]);
    await refreshHoldings(tx, intentIds);
    await this.#changes.appendEvents(tx, this.#world);
    return landed.flatMap(({ sweep, split, settlementId }, index) => {
      const arrivedUnits = arrivals[index]?.arrivedUnits;
      const { otherRecipientUnits, unpaidUnits } = split;
      const isPaidOn = unpaidUnits === 0n && sweep.excessFeeUnits === 0n;
      const movedUnits = split.grossUnits + otherRecipientUnits;
      const leftUnits = arrivedUnits === undefined ? 0n : arrivedUnits - movedUnits;
      // A burn takes as much as the bridge takes at once.
      const isExplained = leftUnits === 0n || (sweep.burnId !== null && leftUnits > 0n);
      return isExplained && isPaidOn && otherRecipientUnits === 0n
        ? []
        : [{ sweep, settlementId, movedUnits, arrivedUnits, otherRecipientUnits, unpaidUnits }];
    });
  }

  #ofInbox(inbox: { intent_id: string; token: string }): readonly Settlement[] {
    return this.#settlements.get(inboxKey(inbox)) ?? [];
  }

  /** The settlement of this sweep, else the open one of the inbox. */
  #settlementOf({ intentId, token, chainTx, burnId }: Sweep): Settlement | undefined {
    const ofInbox = this.#ofInbox({ intent_id: intentId, token });
    return ofInbox.find(({ chain_tx, burn_id }) => chain_tx === chainTx && burn_id === burnId) ?? ofInbox.find(isOpen);
  }

  #change(before: Settlement | undefined, after: Settlement): void {
    const ofInbox = this.#ofInbox(after);
    const others = ofInbox.map((settlement) => (settlement.id === after.id ? after : settlement));
    this.#settlements.set(inboxKey(after), before === undefined ? [...ofInbox, after] : others);
    this.#changes.add(before, after);
  }
}

function withoutSeq(row: SettlementRow): Settlement {
  const { seq: _, ...settlement } = row;
  return settlement;
}

function inboxKey({ intent_id, token }: { intent_id: string; token: string }): string {
  return sweepKey({ intent_id, token, chain_tx: "" });
}
