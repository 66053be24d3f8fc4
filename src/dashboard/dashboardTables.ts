import type { Generated, GeneratedAlways } from "kysely";
import type { Caip2, Namespace } from "../kernel/caip.ts";

// The row types of the tables of sign-ins.

declare module "../db/schema.ts" {
  interface Schema {
    ops_link: OpsLinkTable;
    dashboard_link: DashboardLinkTable;
    dashboard_session: DashboardSessionTable;
    member: MemberTable;
    member_session: MemberSessionTable;
    sign_in_challenge: SignInChallengeTable;
    payout_change: PayoutChangeTable;
    audit_entry: AuditEntryTable;
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

/** A link that signs a member in once. */
export type DashboardLinkTable = OpsLinkTable & { member_id: string };

/** A browser that is signed in to an account's dashboard by a key. */
export type DashboardSessionTable = {
  id: string;
  account_id: string;
  key_id: string;
  created_at: Date;
  seen_at: Date;
  expires_at: Date;
};

/** A browser that is signed in by a member's wallet. */
export type MemberSessionTable = Omit<DashboardSessionTable, "key_id"> & { member_id: string };

/** Somebody who signs in to an account's dashboard by a wallet. */
export type MemberTable = {
  id: string;
  account_id: string;
  namespace: Namespace;
  wallet: string;
  /** Where the wallet is a contract; null for one with a private key. */
  chain: Caip2 | null;
  role: MemberRole;
  name: string | null;
  created_at: Date;
  removed_at: Generated<Date | null>;
};

/** `owner`: everything. `developer`: keys and endpoints. `reader`: sees everything, changes nothing. */
export type MemberRole = "owner" | "developer" | "reader";

/** A text that a wallet may sign once to sign in. */
export type SignInChallengeTable = {
  nonce: string;
  namespace: Namespace;
  wallet: string;
  chain: Caip2 | null;
  created_at: Date;
  expires_at: Date;
};

/**
 * A change of where new intents are paid out. `proposed`: the present payout wallet has not signed it yet. `waiting`: it
 * takes effect at `due_at` unless it is stopped.
 */
export type PayoutChangeTable = {
  id: string;
  account_id: string;
  change: unknown;
  status: "proposed" | "waiting" | "applied" | "stopped";
  proposed_by: string;
  proposed_at: Date;
  signed_by: Generated<string | null>;
  due_at: Generated<Date | null>;
  ended_by: Generated<string | null>;
  ended_at: Generated<Date | null>;
};

/** Who changed what. The database refuses a change of a row. */
export type AuditEntryTable = {
  number: GeneratedAlways<bigint>;
  account_id: string;
  at: Date;
  /** `operator`, `key …` or `member mem_…`. */
  actor: string;
  action: string;
  details: unknown;
};
