import { sql, type Kysely } from "kysely";

// Which processes run, and what each does.

const statements: readonly string[] = [
  `create table service_process (
    id text not null,
    roles text[] not null,
    version text not null,
    started_at timestamptz not null,
    seen_at timestamptz not null,
    constraint service_process_pkey primary key (id)
  )`,
];

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(db);
}
