import { sql } from "kysely";
import { openDatabase } from "../database.ts";
import { DatabaseUnusable, isForbidden } from "../errors.ts";
import { sqlState } from "../../kernel/errors/classifyError.ts";

/** Creates the schema of an installation where it is missing. Throws DatabaseUnusable when the role may not. */
export async function createSchema(url: string, schema: string): Promise<void> {
  const db = await openDatabase({ url, poolSizeMax: 1 });
  try {
    // The role may lack the privilege, and needs it only where the schema is missing.
    const { rows } = await sql<{ isFound: boolean }>`
      select exists (select from pg_namespace where nspname = ${schema}) as "isFound"`.execute(db.root);
    if (rows[0]?.isFound !== true) await sql`create schema if not exists ${sql.id(schema)}`.execute(db.root);
  } catch (error) {
    // Another process created it meanwhile.
    if (/^(23505|42P06)$/.test(sqlState(error) ?? "")) return;
    if (!isForbidden(error)) throw error;
    throw new DatabaseUnusable(
      `the role of this database may not create the schema "${schema}": create it as a role that may, and grant the first CREATE and USAGE there`,
      { cause: error },
    );
  } finally {
    await db.close();
  }
}
