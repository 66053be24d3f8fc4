import type { Db } from "../../src/db/database.ts";
import type { Codebase } from "../architecture/codebase.ts";
import { writersOf } from "../architecture/tables.ts";
import { readSchema, type SchemaPart } from "./readSchema.ts";

const HEADER = `-- The schema after all migrations, table by table: its columns, who writes them, and what refuses a wrong row.
-- Written by \`npm run schema\` from a migrated database, and compared with one by a test. It is not executed.
`;

/** The content of src/db/schema.sql. */
export async function renderSchema(db: Db, codebase: Codebase): Promise<string> {
  const parts = await readSchema(db);
  const writers = new Map(
    [...writersOf(codebase)].map(([table, writes]) => [table, [...new Set(writes.map(({ path }) => path))].join(", ")]),
  );
  const owners = parts.filter(({ kind }) => kind === "table" || kind === "view");
  const shown = new Set<SchemaPart>();
  const sections = owners.map((owner) => {
    const own = parts.filter((part) => part.tables.includes(owner.name) && part !== owner && !shown.has(part));
    for (const part of own) shown.add(part);
    const writer = owner.kind === "view" ? "a view" : `written by ${writers.get(owner.name) ?? "triggers"}`;
    return [`-- ${owner.name}: ${writer}`, ...[owner, ...own].map(({ statement }) => `${statement};`)];
  });
  const free = parts.filter((part) => part.tables.length === 0).map(({ statement }) => [`${statement};`]);
  return (
    [HEADER, ...[...sections, ...free].map((lines) => lines.join("\n"))].join("\n\n").replace("\n\n\n", "\n\n") + "\n"
  );
}
