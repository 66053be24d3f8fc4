import type { Generated, GeneratedAlways } from "kysely";
import type { Caip2 } from "../kernel/caip.ts";

// The row types of the station settlement.

declare module "../db/schema.ts" {
  interface Schema {
    settlement: SettlementTable;
    sweep_agreement: SweepAgreementTable;
    settlement_day: SettlementDayTable;
    settlement_day_change: SettlementDayChangeTable;
  }
}

/**
 * planned → submitted → landed, by a bridge submitted → bridging → landed; planned | submitted → held → planned; any
 * open one → failed; landed | bridging → submitted | failed on a reorg, and landed → bridging on one of the settle
 * chain.
 */
export type SettlementStatus = "planned" | "submitted" | "bridging" | "landed" | "held" | "failed";

export type SettlementTable = {
  id: string;
  seq: GeneratedAlways<bigint>;
  intent_id: string;
  chain: Caip2;
  token: string;
  status: SettlementStatus;
  gross_units: bigint | null;
  fee_units: bigint | null;
  route_cost_units: bigint | null;
  net_units: bigint | null;
  reason: string | null;
  outgoing_id: bigint | null;
  chain_tx: string | null;
  /** The movement by which a bridge took the settlement's money; null for every other one. */
  burn_id: bigint | null;
  block_number: bigint | null;
  attempts: Generated<number>;
  retry_at: Date | null;
  created_at: Date;
  submitted_at: Date | null;
  landed_at: Date | null;
  /** The sweep on the settle chain with which a bridged settlement landed; null for every other one. */
  landed_chain: Caip2 | null;
  landed_chain_tx: string | null;
  landed_block_number: bigint | null;
  updated_at: Date;
};

/** asking → agreed; back to asking when a movement of the sweep changes. */
export type SweepAgreementTable = {
  chain: Caip2;
  chain_tx: string;
  intent_id: string;
  token: string;
  /**
   * The movements that the providers were asked about: their highest revision and their number. Each change raises or
   * lowers one of them.
   */
  legs_revision: bigint;
  legs_count: number;
  state: "asking" | "agreed";
  /** The last answer of each provider. */
  answers: unknown;
  /** How often all providers were asked. */
  attempts: number;
  asked_at: Date;
  retry_at: Date | null;
};

/** What landed on a day in UTC, by the chain on which it was paid. Amounts are in the token's units. */
export type SettlementDayTable = {
  account_id: string;
  /** Such as 2026-11-28. */
  day: string;
  chain: Caip2;
  token: string;
  landed_count: bigint;
  gross_units: bigint;
  fee_units: bigint;
  route_cost_units: bigint;
  net_units: bigint;
};

/** A change that its day lacks yet: what it adds, or takes away when it is below zero. */
export type SettlementDayChangeTable = SettlementDayTable & { number: GeneratedAlways<bigint>; changed_at: Date };
