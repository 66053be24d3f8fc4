import { sql, type Selectable } from "kysely";
import type { DepositTable } from "./depositTables.ts";
import type { IntentRow } from "../intent/store.ts";
import type { MovementRow } from "../watch/movement.ts";
import { convertUnits } from "../kernel/units.ts";

export type DepositRow = Selectable<DepositTable>;
/** A deposit without what its store adds. */
export type Deposit = Omit<DepositRow, "seq" | "account_id">;

/** One deposit before and after a change; `before` is undefined for a new deposit. */
export type DepositChange = { before: Deposit | undefined; after: Deposit };

/** The fields of a deposit that the API and the events show. Dust without a row of its own has the same. */
export type ShownDeposit = Pick<
  Deposit,
  | "id"
  | "intent_id"
  | "chain"
  | "token"
  | "token_decimals"
  | "sender"
  | "amount_units"
  | "counted_units"
  | "status"
  | "reason"
  | "late"
  | "chain_tx"
  | "identity"
  | "block_number"
  | "block_hash"
  | "required_confirmations"
  | "required_seconds"
  | "settlement_id"
  | "seen_at"
  | "counted_at"
>;

/** The reasons of deposits held for agreement: a provider denies the deposit, or too few have answered. */
export const AGREEMENT_REASONS = ["provider_disagreement", "provider_agreement_pending"] as const;

export type NewDepositInput = {
  id: string;
  intent: IntentRow;
  movement: MovementRow;
  /** Whether the deposit's asset is the payout's or has a pinned route to it. */
  hasPayoutPath: boolean;
  tokenDecimals: number;
  requiredConfirmations: number | null;
  requiredSeconds: number | null;
  at: Date;
};

/** Creates the deposit of a movement into an inbox. */
export function newDeposit(input: NewDepositInput): Deposit {
  const { movement, intent, at } = input;
  return {
    id: input.id,
    movement_id: movement.id,
    intent_id: intent.id,
    chain: movement.chain,
    token: movement.token,
    token_decimals: input.tokenDecimals,
    sender: movement.counterparty,
    amount_units: movement.amount_units,
    counted_units: 0n,
    chain_tx: movement.chain_tx,
    identity: movement.identity,
    block_number: movement.block_number,
    block_hash: movement.block_hash,
    required_confirmations: input.requiredConfirmations,
    required_seconds: input.requiredSeconds,
    settlement_id: null,
    agreed_at: null,
    late: intent.status !== "active",
    seen_at: at,
    updated_at: at,
    ...initialState(movement, input.hasPayoutPath),
  };
}

/**
 * Applies a later revision of its movement to a deposit. An orphaned movement drops the deposit, and so does one by
 * which a bridge gave the units of the intent's own inbox. A movement in another
 * block, or with another amount, restarts the same deposit from its initial state. Otherwise the deposit is returned
 * unchanged.
 */
export function applyMovement(
  deposit: Deposit,
  movement: MovementRow,
  context: { hasPayoutPath: boolean; at: Date },
): Deposit {
  const location = {
    sender: movement.counterparty,
    amount_units: movement.amount_units,
    block_number: movement.block_number,
    block_hash: movement.block_hash,
    updated_at: context.at,
  };
  if (movement.orphaned_at !== null || movement.explained_by !== null) {
    const dropped = {
      status: "dropped",
      reason: "reorg",
      counted_units: 0n,
      confirmed_at: null,
      counted_at: null,
      ...NO_RULE,
      agreed_at: null,
    } as const;
    return { ...deposit, ...location, ...dropped, settlement_id: null };
  }
  const isSamePlace = deposit.block_hash === movement.block_hash && deposit.amount_units === movement.amount_units;
  if (isSamePlace && deposit.status !== "dropped") return deposit;
  return {
    ...deposit,
    ...location,
    ...initialState(movement, context.hasPayoutPath),
    counted_units: 0n,
    agreed_at: null,
  };
}

/** The rule by which a deposit counted; none while it does not. */
type CountedRule = Pick<
  Deposit,
  "counted_final_block" | "counted_next_block" | "counted_limit_units" | "counted_elsewhere"
>;
const NO_RULE: CountedRule = {
  counted_final_block: null,
  counted_next_block: null,
  counted_limit_units: null,
  counted_elsewhere: null,
};

type InitialState = Pick<Deposit, "status" | "reason" | "confirmed_at" | "counted_at"> & CountedRule;

function initialState(movement: MovementRow, hasPayoutPath: boolean): InitialState {
  if (movement.orphaned_at !== null)
    return { status: "dropped", reason: "reorg", confirmed_at: null, counted_at: null, ...NO_RULE };
  if (!hasPayoutPath) return { status: "held", reason: "no_route", confirmed_at: null, counted_at: null, ...NO_RULE };
  return { status: "seen", reason: null, confirmed_at: null, counted_at: null, ...NO_RULE };
}

/** Whether a deposit is held only until its providers agree. */
export function isAgreementReason(reason: string | null): reason is (typeof AGREEMENT_REASONS)[number] {
  return AGREEMENT_REASONS.some((each) => each === reason);
}

export function isHeldForAgreement(deposit: Deposit): boolean {
  return deposit.status === "held" && isAgreementReason(deposit.reason);
}

/** A deposit's amount in the payout token's smallest units, at par and rounded down. */
export function toPayoutUnits(deposit: Deposit, intent: IntentRow): bigint {
  return convertUnits(deposit.amount_units, deposit.token_decimals, intent.payout_decimals);
}

/** Whether a deposit adds to the intent's received amount: it is on the chain and has a route to the payout. */
export function isReceived(deposit: Deposit): boolean {
  return deposit.status === "seen" || deposit.status === "confirmed" || deposit.status === "counted";
}

/** SQL for the deposits that are in no final state: an index has exactly this condition. */
export const IS_UNDECIDED = sql<boolean>`
  (deposit.status in ('seen','confirmed')
    or deposit.status = 'held' and deposit.reason in ('provider_disagreement','provider_agreement_pending'))`;
