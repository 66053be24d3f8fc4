// The row types of the tables of sign-ins.

declare module "../db/schema.ts" {
  interface Schema {
    ops_link: OpsLinkTable;
    dashboard_session: DashboardSessionTable;
  }
}

/** A link that opens the operator's page once. */
export type OpsLinkTable = {
  /** SHA-256 of its code. */
  code_hash: Uint8Array;
  created_at: Date;
  expires_at: Date;
  used_at: Date | null;
};

/** A browser that is signed in to an account's dashboard by a key. */
export type DashboardSessionTable = {
  id: string;
  account_id: string;
  key_id: string;
  created_at: Date;
  seen_at: Date;
  expires_at: Date;
};
