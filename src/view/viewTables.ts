// The row types of the station view.

declare module "../db/schema.ts" {
  interface Schema {
    view_hint: ViewHintTable;
  }
}

export type ViewHintTable = {
  intent_id: string;
  namespace: string;
  reference: string;
  token: string;
  expires_at: Date;
};
