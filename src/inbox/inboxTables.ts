import type { Caip2, Namespace } from "../kernel/caip.ts";

// The row types of the station inbox.

declare module "../db/schema.ts" {
  interface Schema {
    source_inbox: SourceInboxTable;
    origin_switch: OriginSwitchTable;
  }
}

export type SourceInboxTable = {
  intent_id: string;
  namespace: Namespace;
  reference: string;
  /** The mint on Solana; empty on EVM chains, where one address takes every token. */
  token: string;
  address: string;
  issued_at: Date;
};

/** Origins that the operator switched on or off. An origin without a row is on. */
export type OriginSwitchTable = { chain: Caip2; token: string; is_enabled: boolean; changed_at: Date };
