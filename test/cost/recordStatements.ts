import { open, stat } from "node:fs/promises";
import { join } from "node:path";
import pg from "pg";
import type { PostgresServer } from "../support/postgres.ts";
import { costOf, type PlanNode, type StatementCost } from "./statementCost.ts";

// Records every statement of a database with the plan that ran and its row counts. PostgreSQL writes them to its own
// log, also for the statements of triggers and foreign keys, so the service's code stays as it is.

export type RecordedStatement = { text: string; cost: StatementCost };

export type StatementLog = {
  /** The statements since the last call, in the order of their ends. Every transaction must have ended. */
  take(): Promise<RecordedStatement[]>;
};

const SETTINGS = {
  session_preload_libraries: "auto_explain",
  "auto_explain.log_min_duration": "0",
  "auto_explain.log_analyze": "on",
  // Row counts without times, which would cost as much as the statements.
  "auto_explain.log_timing": "off",
  "auto_explain.log_buffers": "on",
  "auto_explain.log_nested_statements": "on",
  "auto_explain.log_format": "json",
} as const;

/**
 * Records the statements of sessions that connect from now on. The server must have no other database in use. `plans`:
 * with `generic`, no plan knows the values of its parameters.
 */
export async function recordStatements(
  server: PostgresServer,
  database: string,
  plans: "auto" | "generic" = "auto",
): Promise<StatementLog> {
  const client = new pg.Client({ connectionString: server.urlOf("postgres") });
  await client.connect();
  const settings = plans === "generic" ? { ...SETTINGS, plan_cache_mode: "force_generic_plan" } : SETTINGS;
  for (const [name, value] of Object.entries(settings))
    await client.query(`alter database ${database} set ${name} = '${value}'`);
  await client.end();
  const path = join(server.socketDirectory, "log");
  let readTo = (await stat(path)).size;
  return {
    async take() {
      const text = await readFrom(path, readTo);
      readTo += Buffer.byteLength(text);
      return parseLog(text);
    },
  };
}

async function readFrom(path: string, position: number): Promise<string> {
  const file = await open(path);
  try {
    const { size } = await file.stat();
    const { buffer } = await file.read(Buffer.alloc(size - position), 0, size - position, position);
    return buffer.toString();
  } finally {
    await file.close();
  }
}

/** An entry begins with its duration; the lines of its plan begin with a tab. */
function parseLog(text: string): RecordedStatement[] {
  const statements: RecordedStatement[] = [];
  const lines = text.split("\n");
  for (let line = 0; line < lines.length; line += 1) {
    if (!/duration: [\d.]+ ms {2}plan:$/.test(lines[line] ?? "")) continue;
    const plan: string[] = [];
    for (; lines[line + 1]?.startsWith("\t"); line += 1) plan.push(lines[line + 1] ?? "");
    const entry = JSON.parse(plan.join("\n")) as { "Query Text": string; Plan: PlanNode };
    statements.push({ text: entry["Query Text"].replaceAll(/\s+/g, " ").trim(), cost: costOf(entry.Plan) });
  }
  return statements;
}
