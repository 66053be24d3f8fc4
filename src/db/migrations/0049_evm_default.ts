import { sql, type Kysely } from "kysely";

// An account whose own default is on Solana may have one on an EVM chain beside it. It has one default a namespace.

const statements: readonly string[] = [
  `alter table account add column evm_default_reference text, add column evm_default_wallet text,
    add constraint account_evm_default check (num_nulls(evm_default_reference, evm_default_wallet) in (0, 2)),
    add constraint account_one_default_a_namespace check (
      (payout_namespace is distinct from 'eip155' or evm_default_wallet is null)
      and (payout_namespace is distinct from 'solana' or solana_default_wallet is null))`,
  `alter table api_key drop constraint api_key_default_namespace_check,
    add constraint api_key_default_namespace_check check (default_namespace in ('eip155', 'solana'))`,
];

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(db);
}
