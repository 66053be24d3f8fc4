// The row types of the station view.

declare module "../db/schema.ts" {
  interface Schema {
    view_hint: ViewHintTable;
    provider_hint: ProviderHintTable;
  }
}

export type ViewHintTable = {
  intent_id: string;
  namespace: string;
  reference: string;
  token: string;
  expires_at: Date;
};

/** When a provider last said where to look, to within some seconds. */
export type ProviderHintTable = { chain: string; provider: string; last_at: Date };
