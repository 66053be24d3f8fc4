import { sql, type Kysely } from "kysely";

// An operator may raise the rate limits of an account, and never lower them. A row of counts has a time for each call.

const statements: readonly string[] = [
  `alter table account
    add limit_multiple integer default 1 not null,
    add constraint account_limit_multiple_check check ((limit_multiple >= 1) and (limit_multiple <= 50))`,
];

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(db);
}
