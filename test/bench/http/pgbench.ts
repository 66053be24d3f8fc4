import { execFile } from "node:child_process";
import { existsSync, readdirSync } from "node:fs";
import { chmod, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import type { PgbenchScript } from "./statements.ts";

export type PgbenchOptions = { databaseUrl: string; clients: number; durationMs: number };

/** Returns the number of transactions; undefined without pgbench on this machine. */
export async function pgbench(
  { text, variables }: PgbenchScript,
  { databaseUrl, clients, durationMs }: PgbenchOptions,
): Promise<number | undefined> {
  const program = findPgbench();
  if (program === undefined) return undefined;
  const folder = await mkdtemp(join(tmpdir(), "tributary-pgbench-"));
  try {
    const file = join(folder, "script.sql");
    await chmod(folder, 0o755);
    await writeFile(file, text);
    const seconds = String(durationMs / 1_000);
    const variableFlags = Object.entries(variables).flatMap(([name, value]) => ["-D", `${name}=${value}`]);
    const args = [
      "-n",
      "-M",
      "prepared",
      "-c",
      String(clients),
      "-T",
      seconds,
      ...variableFlags,
      "-f",
      file,
      databaseUrl,
    ];
    const { stdout } = await promisify(execFile)(program, args);
    return Number(/transactions actually processed: (\d+)/.exec(stdout)?.[1]);
  } finally {
    await rm(folder, { recursive: true });
  }
}

function findPgbench(): string | undefined {
  const root = "/usr/lib/postgresql";
  const versions = existsSync(root) ? readdirSync(root) : [];
  const places = [
    ...versions.map((version) => join(root, version, "bin", "pgbench")),
    "/usr/bin/pgbench",
    "/usr/local/bin/pgbench",
  ];
  return places.find((place) => existsSync(place));
}
