import type { Selectable } from "kysely";
import type { Schema } from "../../db/schema.ts";

/** Columns of an intent that a trigger keeps from changing. Beside its own values, an event shows nothing else. */
export const PINNED_COLUMNS = [
  "id",
  "livemode",
  "price_units",
  "price_token_units",
  "one_time",
  "merchant_reference",
  "metadata",
  "return_url",
  "description",
  "payout_namespace",
  "payout_chain_reference",
  "payout_wallet",
  "payout_token",
  "payout_decimals",
  "rail_id",
  "fee_bps",
  "fee_recipient",
  "recovery",
  "recover_after",
  "rent_recipient",
  "routes_root",
  "hop_recovery",
  "inbox_salt",
  "inbox_hub",
  "inbox_implementation",
  "inbox_address",
  "created_at",
] as const satisfies readonly (keyof Schema["intent"])[];

export type PinnedIntent = Pick<Selectable<Schema["intent"]>, (typeof PINNED_COLUMNS)[number]>;
