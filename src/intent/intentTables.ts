import type { Generated, GeneratedAlways } from "kysely";
import type { Namespace } from "../kernel/caip.ts";

// The row types of the station intent.

declare module "../db/schema.ts" {
  interface Schema {
    deployment: DeploymentTable;
    intent: IntentTable;
    route_set: RouteSetTable;
    checkout_handoff: CheckoutHandoffTable;
    inbox: InboxTable;
  }
}

export type DeploymentTable = { only_row: Generated<boolean>; deployment_id: Uint8Array; signing_secret: Uint8Array };

/**
 * active → settled | archived; settled → archived | active (a reorg took a counted deposit away); archived is terminal.
 */
export type IntentStatus = "active" | "settled" | "archived";

export type IntentTable = {
  id: string;
  seq: GeneratedAlways<bigint>;
  account_id: string;
  livemode: boolean;
  status: IntentStatus;
  occupies: boolean;
  price_units: bigint | null;
  price_token_units: bigint | null;
  one_time: boolean;
  merchant_reference: string | null;
  metadata: unknown;
  payout_namespace: Namespace;
  payout_chain_reference: string;
  payout_wallet: string;
  payout_token: string;
  payout_decimals: number;
  rail_id: string;
  minimum_units: bigint;
  fee_bps: number;
  fee_recipient: string;
  underpay_tolerance_bps: number;
  recovery: string;
  recover_after: bigint;
  /** Gets the rent of closed accounts; only on Solana. */
  rent_recipient: string | null;
  routes_root: string;
  /** The stored routes of the root; null for the empty root. */
  route_set: Generated<string | null>;
  /** The recovery key of its inboxes on the other kind of chains; null where it has none. */
  hop_recovery: Generated<string | null>;
  /** The hub of its inbox on EVM chains, for a payout elsewhere; null without one. */
  hop_hub: Generated<string | null>;
  inbox_salt: string;
  inbox_hub: string;
  inbox_implementation: string;
  inbox_address: string;
  widget_token_hash: Uint8Array;
  customer_bound_at: Date | null;
  received_units: Generated<bigint>;
  counted_units: Generated<bigint>;
  /** Held until the chain's providers agree. */
  agreement_units: Generated<bigint>;
  /** Of the counted units, those that came after the intent had closed. */
  late_units: Generated<bigint>;
  settled_units: Generated<bigint>;
  fee_units: Generated<bigint>;
  net_units: Generated<bigint>;
  pending_count: Generated<number>;
  created_at: Date;
  updated_at: Date;
  settled_at: Date | null;
  archived_at: Date | null;
  return_url: Generated<string | null>;
  description: Generated<string | null>;
};

/** The routes that intents of one rail pin. Rows never change. */
export type RouteSetTable = {
  /** The hash of the other columns without the time, in hex. */
  id: string;
  root: string;
  /** In the order of the leaves; the fields of the hub's `Route`, numbers as texts. */
  routes: unknown;
  /** What stands beside the leaves of each origin. */
  origins: unknown;
  /** The ways from Solana: see Hop, numbers as texts. */
  hops: unknown;
  created_at: Date;
};

/** A code that opens the checkout of an intent once, in another browser. Its use deletes it. */
export type CheckoutHandoffTable = { code_hash: Uint8Array; intent_id: string; expires_at: Date };

/** Whose an address is. Rows never change. */
export type InboxTable = {
  /** In the order in which numbers were drawn; what commits late has a lower one than what is there already. */
  seq: GeneratedAlways<bigint>;
  namespace: Namespace;
  /** Empty where the address is the same on every chain of the namespace. */
  reference: string;
  address: string;
  intent_id: string;
  /** The inbox that the intent commits to, or one that a gate issued beside it. */
  kind: "deposit" | "source";
  /** The mint on Solana; empty on EVM chains, where one address takes every token. */
  token: string;
  created_at: Date;
};
