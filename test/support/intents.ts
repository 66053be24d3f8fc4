import { hubAddress, implementationAddress } from "@tributary/inbox/hub";
import { computeInboxAddress } from "@tributary/inbox/address";
import { computeInboxSalt } from "@tributary/inbox/salt";
import type { Db } from "../../src/db/database.ts";
import type { IntentTable } from "../../src/intent/intentTables.ts";
import type { IntentRow } from "../../src/intent/store.ts";
import { toInboxTerms } from "../../src/intent/inboxTerms.ts";
import { systemEntropy } from "../../src/kernel/entropy.ts";
import { newId } from "../../src/kernel/ids.ts";
import type { Namespace } from "../../src/kernel/caip.ts";
import { pinInbox } from "../../src/intent/pins/pinInbox.ts";
import { SOLANA_CHAIN_CONFIG } from "./solanaConfig.ts";
import { sql, type Insertable } from "kysely";

type NewIntentValues = Omit<Insertable<IntentTable>, "seq">;
export type IntentOverrides = Partial<NewIntentValues>;

/** The default payout of test intents: the first local chain and a token without a contract. */
export const TEST_CHAIN = "eip155:31337";
export const TEST_TOKEN = "0x00000000000000000000000000000000000c0de6";
export const FEE_RECIPIENT = "0x00000000000000000000000000000000000fee00";

/** Payouts on Solana use it. */
const SOLANA_CONFIG = { chains: [SOLANA_CHAIN_CONFIG], feeRecipient: FEE_RECIPIENT };
const ZERO_32 = `0x${"0".repeat(64)}`;
const CREATED_AT = new Date("2026-11-01T12:00:00Z");

const DEPOSIT_INBOX = [
  sql<Namespace>`payout_namespace`.as("namespace"),
  sql<string>`case when payout_namespace = 'eip155' then '' else payout_chain_reference end`.as("reference"),
  sql<string>`inbox_address`.as("address"),
  sql<string>`id`.as("intent_id"),
  sql<"deposit">`'deposit'`.as("kind"),
  sql<string>`case when payout_namespace = 'eip155' then '' else payout_token end`.as("token"),
  sql<Date>`created_at`.as("created_at"),
] as const;

/** Inserts an account and an intent whose inbox address follows from its terms. 6 decimals, no fee, minimum 0. */
export async function insertIntent(db: Db, overrides: IntentOverrides = {}): Promise<IntentRow> {
  const accountId = overrides.account_id ?? (await insertAccount(db));
  const id = overrides.id ?? newId("pi", systemEntropy);
  const pinned = {
    payout_namespace: "eip155" as Namespace,
    payout_chain_reference: "31337",
    payout_wallet: randomAddress(),
    payout_token: TEST_TOKEN,
    fee_recipient: FEE_RECIPIENT,
    fee_bps: 0,
    recovery: `0x${"0".repeat(40)}`,
    recover_after: 1_800_000_000n,
    routes_root: ZERO_32,
    route_set: null,
    inbox_salt: computeInboxSalt(ZERO_32 as `0x${string}`, id) as string,
    ...overrides,
  };
  const terms = { ...pinned, recover_after: BigInt(pinned.recover_after) };
  const inbox =
    pinned.payout_namespace === "solana"
      ? pinInbox(SOLANA_CONFIG, terms, { recovery: null, solana_recovery: null })
      : { rent_recipient: null, inbox_address: computeInboxAddress(toInboxTerms(terms)) };
  const values: NewIntentValues = {
    id,
    account_id: accountId,
    livemode: false,
    status: "active",
    occupies: false,
    price_units: overrides.price_token_units ?? null,
    price_token_units: null,
    one_time: false,
    merchant_reference: null,
    metadata: null,
    payout_decimals: 6,
    rail_id: "local:usdc",
    minimum_units: 0n,
    underpay_tolerance_bps: 0,
    inbox_hub: hubAddress,
    inbox_implementation: implementationAddress,
    widget_token_hash: systemEntropy.bytes(32),
    customer_bound_at: CREATED_AT,
    created_at: CREATED_AT,
    updated_at: CREATED_AT,
    settled_at: null,
    archived_at: null,
    ...pinned,
    ...inbox,
    ...overrides,
  };
  return insertIntentRow(db, values);
}

/** Inserts an intent and its inbox in one statement, as a create does. */
export async function insertIntentRow(db: Db, values: NewIntentValues): Promise<IntentRow> {
  return db.root
    .with("created", (query) => query.insertInto("intent").values(values).returningAll())
    .with("placed", (query) =>
      query
        .insertInto("inbox")
        .columns(["namespace", "reference", "address", "intent_id", "kind", "token", "created_at"])
        .expression(query.selectFrom("created").select(DEPOSIT_INBOX)),
    )
    .selectFrom("created")
    .selectAll()
    .executeTakeFirstOrThrow();
}

/** Inserts the inboxes of intents that were inserted in bulk, in the order of the intents. */
export async function insertMissingInboxes(db: Db): Promise<void> {
  await sql`
    insert into inbox (namespace, reference, address, intent_id, kind, token, created_at)
    select 'eip155', '', inbox_address, id, 'deposit', '', created_at from intent
    where not exists (select from inbox where inbox.intent_id = intent.id) order by seq`.execute(db.root);
}

export async function insertAccount(db: Db): Promise<string> {
  const id = newId("acct", systemEntropy);
  await db.root
    .insertInto("account")
    .values({ id, name: "Test", environment: "test", created_at: CREATED_AT })
    .execute();
  return id;
}

export function randomAddress(): string {
  return `0x${Buffer.from(systemEntropy.bytes(20)).toString("hex")}`;
}

/** Deletes intents. Only tests do: replication mode disables the triggers that forbid it. */
export async function deleteIntents(db: Db, inboxes: readonly string[]): Promise<void> {
  await db.transaction(async (tx) => {
    await sql`set local session_replication_role = replica`.execute(tx);
    await tx.deleteFrom("inbox").where("address", "in", inboxes).execute();
    await tx.deleteFrom("intent").where("inbox_address", "in", inboxes).execute();
  });
}
