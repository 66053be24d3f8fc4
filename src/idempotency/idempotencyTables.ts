// The row types of stored responses.

declare module "../db/schema.ts" {
  interface Schema {
    idempotent_answer: IdempotentAnswerTable;
  }
}

export type IdempotentAnswerTable = {
  account_id: string;
  operation: string;
  key: string;
  body_hash: Uint8Array;
  status: number;
  body: unknown;
  expires_at: Date;
};
