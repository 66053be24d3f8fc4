import { assignSweptDeposits } from "../../deposit/store.ts";
import { refreshHoldings } from "../../deposit/holding/holdingStore.ts";
import type { Tx } from "../../db/database.ts";
import type { IntentRow } from "../../intent/store.ts";
import type { Caip2 } from "../../kernel/caip.ts";
import {
  markSweptByBridge,
  markLanded,
  splitSweep,
  sweepKey,
  type Settlement,
  type SettlementRow,
  type Sweep,
} from "../settlement.ts";
import { lockLandedWith } from "../store.ts";
import { shareSweep, type Mint } from "../shareSweep.ts";

// A provider may omit a mint. The sweep that moved it then lands as the inbox's own until the mint is known.

export type LandingCorrection = { before: SettlementRow; after: Settlement };

type SweepsWithMints = {
  chain: Caip2;
  sweeps: readonly Sweep[];
  /** Locked by the caller. Sweeps of others are left out. */
  intents: ReadonlyMap<string, IntentRow>;
  /** By sweepKey. */
  mintsOf: ReadonlyMap<string, readonly Mint[]>;
  at: Date;
};

/**
 * Locks the settlements of the inboxes' own deposits that landed with these sweeps, and returns those whose share is
 * another now.
 */
export async function listLandingCorrections(
  tx: Tx,
  { chain, sweeps, intents, mintsOf, at }: SweepsWithMints,
): Promise<LandingCorrection[]> {
  const names = sweeps.map((sweep) => ({
    intent_id: sweep.intentId,
    token: sweep.token,
    chain_tx: sweep.chainTx,
    sweep,
  }));
  const landed = await lockLandedWith(
    tx,
    chain,
    names.filter(({ intent_id }) => intents.has(intent_id)),
  );
  return landed.flatMap((before) => {
    const key = sweepKey({ ...before, chain_tx: before.chain_tx ?? "" });
    const sweep = names.find((name) => sweepKey(name) === key)?.sweep;
    const intent = intents.get(before.intent_id);
    if (sweep === undefined || intent === undefined) return [];
    const split = splitSweep(sweep, intent);
    const { own } = shareSweep(split, mintsOf.get(key) ?? []);
    if (own === undefined) return [{ before, after: markSweptByBridge(before, at) }];
    if (own.netUnits === before.net_units && own.feeUnits === before.fee_units) return [];
    const isRescued = split.otherRecipientUnits !== 0n;
    return [{ before, after: markLanded(before, sweep, { share: own, isRescued, at }) }];
  });
}

const NOWHERE = { blockNumber: -1n, place: -1n };

/** Releases the deposits of settlements that are taken back. */
export async function releaseDeposits(
  tx: Tx,
  { chain, corrections }: { chain: Caip2; corrections: readonly LandingCorrection[] },
): Promise<void> {
  const ranges = corrections
    .filter(({ after }) => after.status === "failed")
    .map(({ after: { id, intent_id, token } }) => {
      return { settlementId: id, intentId: intent_id, token, after: NOWHERE, before: NOWHERE };
    });
  if (ranges.length === 0) return;
  await assignSweptDeposits(tx, chain, ranges);
  await refreshHoldings(
    tx,
    ranges.map(({ intentId }) => intentId),
  );
}
