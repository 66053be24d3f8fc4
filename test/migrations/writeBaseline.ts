/**
 * Writes test/migrations/baseline.sql and the rows beside it: `npm run baseline`. Only before the first release, or
 * together with a new baseline: afterwards these files show what a released version stored. It needs pg_dump.
 */
import { execFileSync } from "node:child_process";
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import pg from "pg";
import { openDatabase } from "../../src/db/database.ts";
import { createEndpoint } from "../../src/webhook/endpoint/manageEndpoints.ts";
import { fanOut } from "../../src/webhook/fanOut.ts";
import { SimDatabase } from "../sim/simDatabase.ts";
import { runSeed } from "../sim/simulation.ts";
import { createDatabaseOn, startOwnServer } from "../support/database.ts";
import { assertAllChecks } from "../support/ledgerAssertions.ts";
import { stationWorld } from "../support/stationWorld.ts";
import { BASELINE_SEEDS, readBaselineKinds } from "./baselineKinds.ts";

const FOLDER = fileURLToPath(new URL("rows/", import.meta.url));
const SCHEMA = fileURLToPath(new URL("baseline.sql", import.meta.url));

const simulated = await SimDatabase.open();
const server = await startOwnServer();
try {
  const schemaUrl = await createDatabaseOn(server, "baseline_schema");
  const schema = dump(schemaUrl, ["--schema-only"]);
  const names = dump(schemaUrl, ["--data-only", "--inserts", "--table=migration"]);
  writeFileSync(
    SCHEMA,
    `-- The database of the baseline migrations. Written by \`npm run baseline\`.\n${schema}${names}`,
  );
  rmSync(FOLDER, { recursive: true, force: true });
  mkdirSync(FOLDER);
  const found = new Set<string>();
  for (const seed of BASELINE_SEEDS) {
    const url = await createDatabaseOn(server, `baseline_${seed}`);
    await writeRows(url, seed);
    const db = await openDatabase({ url, allowUnsafeFsync: true });
    await deliverEvents(db);
    await assertAllChecks(db);
    for (const kind of await readBaselineKinds(db)) found.add(kind);
    await db.close();
    const options = ["--data-only", "--rows-per-insert=100", "--exclude-table=migration"];
    const text = `set session_replication_role = replica;\n${dump(url, options)}set session_replication_role = origin;\n`;
    writeFileSync(`${FOLDER}seed${seed}.sql`, text);
  }
  console.log([...found].toSorted().join("\n"));
} finally {
  await server.remove();
  await simulated.close();
}

/** Runs the service in the simulation, and copies its rows to a server. */
async function writeRows(url: string, seed: number): Promise<void> {
  const { violation } = await runSeed(simulated, { seed });
  if (violation !== undefined) throw new Error(`seed ${seed} fails: ${violation.rule}`);
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  await client.query("set session_replication_role = replica");
  const tables = simulated.query("select tablename as name from pg_tables where schemaname = 'public' order by 1");
  for (const { name } of tables.rows) {
    const table = `"${String(name)}"`;
    if (name === "migration") continue;
    await client.query(`delete from ${table}`);
    const { rows } = simulated.query(`select row::text as text from ${table} row`);
    for (const { text } of rows)
      await client.query(`insert into ${table} overriding system value select ($1::${table}).*`, [text]);
  }
  const sequences = simulated.query("select sequencename as name, last_value::text as last from pg_sequences");
  for (const { name, last } of sequences.rows)
    if (last !== null) await client.query("select setval($1::text::regclass, $2::text::bigint)", [name, last]);
  await client.end();
}

/** Gives an account an endpoint that its events are due at. */
async function deliverEvents(db: Awaited<ReturnType<typeof openDatabase>>): Promise<void> {
  const world = stationWorld(db);
  const { id: accountId } = await db.root
    .selectFrom("account")
    .select("id")
    .orderBy("number")
    .executeTakeFirstOrThrow();
  const { number } = await createEndpoint(world, { accountId, input: { url: "https://shop.example/hook" } });
  // Endpoints begin with the next event; this one is behind from the first on.
  await db.root
    .updateTable("webhook_endpoint")
    .set({ fanned_sequence: 0n, is_behind: true })
    .where("number", "=", number)
    .execute();
  await fanOut(world);
}

function dump(url: string, options: readonly string[]): string {
  const args = ["--no-owner", "--no-privileges", "--no-comments", ...options, `--dbname=${url}`];
  const text = execFileSync("pg_dump", args, { encoding: "utf8", maxBuffer: 2 ** 28 });
  const lines = text.split("\n").filter((line) => line !== "" && !line.startsWith("--") && !line.startsWith("\\"));
  return `${lines.join("\n")}\n`;
}
