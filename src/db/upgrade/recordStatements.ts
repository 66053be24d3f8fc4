import { DummyDriver, Kysely, PostgresAdapter, PostgresIntrospector, PostgresQueryCompiler } from "kysely";
import type { Migration } from "../migrations/list.ts";

/** The statements of a migration, without a database: a migration decides nothing by what it reads. */
export async function recordStatements({ up }: Pick<Migration, "up">): Promise<string[]> {
  const statements: string[] = [];
  const recorder = new Kysely<unknown>({
    dialect: {
      createAdapter: () => new PostgresAdapter(),
      createDriver: () => new DummyDriver(),
      createIntrospector: (db) => new PostgresIntrospector(db),
      createQueryCompiler: () => new PostgresQueryCompiler(),
    },
    log: ({ query }) => void statements.push(query.sql),
  });
  await up(recorder);
  return statements;
}

/** The first words of the statements that lock or read a table, before its name. */
const TABLE_STATEMENT =
  /\b(?:alter table(?: if exists)?(?: only)?|create (?:unique )?index(?: if not exists)? \S+ on|update|delete from|insert into|drop table(?: if exists)?|from|create (?:constraint )?trigger [^;]*? on)\s+"?(\w+)"?/gi;

/** The tables that a statement names where it changes, locks or reads one. */
export function tablesOf(statement: string): string[] {
  return [...new Set([...statement.matchAll(TABLE_STATEMENT)].flatMap(([, name]) => name?.toLowerCase() ?? []))];
}
