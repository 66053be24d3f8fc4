import type { Generated, GeneratedAlways } from "kysely";
import type { Namespace } from "../kernel/caip.ts";

// The row types of the station merchant.

declare module "../db/schema.ts" {
  interface Schema {
    account: AccountTable;
    api_key: ApiKeyTable;
    merchant_version: MerchantVersionTable;
    page_origin: PageOriginTable;
    account_brand: AccountBrandTable;
  }
}

export type AccountTable = {
  id: string;
  number: GeneratedAlways<number>;
  name: string;
  environment: "test" | "live";
  status: Generated<"active" | "suspended">;
  payout_namespace: Namespace | null;
  payout_chain_reference: string | null;
  payout_wallet: string | null;
  currency: string | null;
  fee_bps: Generated<number>;
  underpay_tolerance_bps: Generated<number>;
  recovery: string | null;
  created_at: Date;
  /** CAIP-19 ids of the origins that its intents may use; null for all. */
  origins: Generated<string[] | null>;
  /** Beside `recovery`, which is for EVM chains. */
  solana_recovery: Generated<string | null>;
  /**
   * The default destination on Solana, where the own one is elsewhere: for the keys that are bound to it. Both or none.
   */
  solana_default_reference: Generated<string | null>;
  solana_default_wallet: Generated<string | null>;
  /** The same on an EVM chain. */
  evm_default_reference: Generated<string | null>;
  evm_default_wallet: Generated<string | null>;
  /** Its rate limits are so many times those of every account. */
  limit_multiple: Generated<number>;
};

export type ApiKeyTable = {
  key_id: string;
  account_id: string;
  secret_hash: Uint8Array;
  scopes: string[];
  created_at: Date;
  expires_at: Date | null;
  revoked_at: Date | null;
  last_used_at: Date | null;
  /** The default destination that its creates have; null for the account's own. */
  default_namespace: Generated<Namespace | null>;
};

/** Increases with every change of keys or accounts. */
export type MerchantVersionTable = { only_row: Generated<boolean>; version: bigint };

/** Web pages that may embed an account's checkout. */
export type PageOriginTable = { account_id: string; origin: string; added_at: Date };

/** How the checkout of an account looks, and whom its payers ask. Absent: the defaults. */
export type AccountBrandTable = {
  account_id: string;
  /** `#rrggbb` in lower case. */
  accent: string | null;
  accent_dark: string | null;
  radius_px: number | null;
  font: string | null;
  /** An https: or mailto: address. */
  support: string | null;
  logo: Uint8Array | null;
  logo_type: "image/png" | "image/svg+xml" | null;
  changed_at: Date;
};
