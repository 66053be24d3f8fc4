import { sql, type Kysely } from "kysely";

// A transfer has a place in its block and an identity that the chain's kind makes. An outgoing transaction has no more columns of its kind
// than that kind needs: those of EVM are all set or all absent.

const statements: readonly string[] = [
  `alter table movement drop constraint movement_position_check`,
  `alter table movement rename column position to identity`,
  `alter table movement alter column identity type text using identity::text`,
  `alter table movement rename column log_index to place`,
  `alter table movement alter column place type bigint`,
  `alter table movement add check (identity <> ''), add check (place >= 0)`,
  `alter table deposit rename column position to identity`,
  `alter table deposit alter column identity type text using identity::text`,

  `alter table sending rename to outgoing_transaction`,
  `alter table outgoing_transaction alter column nonce drop not null, alter column recipient drop not null,
    alter column data drop not null, alter column gas_limit drop not null`,
  `alter table outgoing_transaction add check (num_nulls(nonce, recipient, data, gas_limit) in (0, 4))`,
  `alter index sending_slot rename to outgoing_transaction_slot`,
  `alter index sending_open rename to outgoing_transaction_open`,
  `alter table sending_attempt rename to outgoing_attempt`,
  `alter table outgoing_attempt rename column sending_id to outgoing_id`,
  `alter table outgoing_attempt alter column max_fee_per_gas drop not null, alter column max_priority_fee_per_gas drop not null`,
  `alter table outgoing_attempt add check (num_nulls(max_fee_per_gas, max_priority_fee_per_gas) in (0, 2))`,
  `alter table settlement rename column sending_id to outgoing_id`,
];

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(db);
}
