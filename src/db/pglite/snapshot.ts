import { createHash } from "node:crypto";
import { mkdir, mkdtemp, readdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { createEmbeddedDatabase } from "../database.ts";
import { migrate } from "../migrate.ts";
import { EmbeddedServer } from "./pglite.ts";

// A new embedded database takes seconds to create; one loaded from a dump takes half a second. So the first one is
// cached as a file.

export type SnapshotOptions = {
  /** The directory of the cached dumps (about 40 MB each); created when missing. */
  cacheDirectory: string;
  /** The time to record for the migrations, when the dump has to be created. */
  appliedAt: Date;
};

/**
 * Returns a dump of an empty, migrated database, and creates it when this version has none. Concurrent processes are
 * safe.
 */
export async function loadMigratedSnapshot({ cacheDirectory, appliedAt }: SnapshotOptions): Promise<Blob> {
  const name = `pglite-${await schemaDigest()}.tar`;
  const file = join(cacheDirectory, name);
  const cached = await readFile(file).catch(() => undefined);
  if (cached !== undefined) return new Blob([cached]);
  const dump = await dumpMigrated(appliedAt);
  await mkdir(cacheDirectory, { recursive: true });
  // A rename replaces the file atomically, so that no process reads a partial dump.
  const temporaryDirectory = await mkdtemp(join(cacheDirectory, "draft-"));
  await writeFile(join(temporaryDirectory, name), dump);
  await rename(join(temporaryDirectory, name), file);
  await rm(temporaryDirectory, { recursive: true });
  await removeStaleSnapshots(cacheDirectory, name);
  return new Blob([dump]);
}

/** A digest of every migration's text and of PGlite's version. */
export async function schemaDigest(): Promise<string> {
  const hash = createHash("sha256");
  const folder = fileURLToPath(new URL("../migrations/", import.meta.url));
  for (const name of (await readdir(folder)).toSorted())
    hash.update(`${name}\0`).update(await readFile(join(folder, name)));
  hash.update(await readFile(new URL("../package.json", import.meta.resolve("@electric-sql/pglite"))));
  return hash.digest("hex").slice(0, 16);
}

async function dumpMigrated(appliedAt: Date): Promise<Uint8Array<ArrayBuffer>> {
  const server = await EmbeddedServer.start({ directory: "memory" });
  const db = createEmbeddedDatabase(server);
  try {
    await migrate(db, { appliedAt });
    return await (await server.pglite.dumpDataDir("none")).bytes();
  } finally {
    await db.close();
  }
}

async function removeStaleSnapshots(cacheDirectory: string, name: string): Promise<void> {
  const others = (await readdir(cacheDirectory)).filter(
    (other) => /^pglite-[0-9a-f]+\.tar$/.test(other) && other !== name,
  );
  await Promise.all(others.map((other) => rm(join(cacheDirectory, other), { force: true })));
}
