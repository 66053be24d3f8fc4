import { execFileSync, spawn, spawnSync, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { chownSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import type { Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import pg from "pg";
import { openDatabase } from "../../src/db/database.ts";
import { migrate } from "../../src/db/migrate.ts";
import { chooseFreePort } from "./freePort.ts";

// Two servers that Patroni keeps available, with etcd and HAProxy, all on this machine and none as root: the files of
// the folder deploy, with other ports. Programs and PostgreSQL are Debian's.

export type PatroniPair = {
  urlOf(database: string): string;
  /** Creates a migrated database. */
  createDatabase(name: string): Promise<void>;
  /** Waits until a standby has every commit before it is confirmed. */
  makeSynchronous(): Promise<void>;
  /** Kills the primary and the Patroni beside it. The other one takes over by itself. */
  failOver(): Promise<void>;
  remove(): Promise<void>;
};

const DEPLOY = fileURLToPath(new URL("../../deploy/", import.meta.url));
const UNPRIVILEGED_ID = 65_534;
const PASSWORD = "drill";
const POLL_MS = 100;
const POLLS_MAX = 1_200;
const LOG_CHARS_MAX = 3_000;

/** The shell waits on a pipe that only this process holds open, and then ends what it started. */
const WATCHDOG = `log="$1"; data="$2"; bin="$3"; shift 3; "$@" >"$log" 2>&1 & child=$!; cat >/dev/null; kill -KILL $child
[ -z "$data" ] || "$bin/pg_ctl" stop -D "$data" -m immediate >/dev/null 2>&1; exit 0`;

type Server = { name: string; restPort: number; port: number; data: string; watchdog?: ChildProcess };

/** Undefined where one of the programs is missing. */
export function findPatroni(): { programs: string } | undefined {
  const root = "/usr/lib/postgresql";
  const versions = existsSync(root) ? readdirSync(root).toSorted((a, b) => Number(b) - Number(a)) : [];
  const programs = versions
    .map((version) => join(root, version, "bin"))
    .find((bin) => existsSync(join(bin, "pg_rewind")));
  const isInstalled = ["patroni", "etcd", "haproxy"].every(
    (name) => spawnSync("sh", ["-c", `command -v ${name}`]).status === 0,
  );
  return programs !== undefined && isInstalled ? { programs } : undefined;
}

export async function startPatroniPair(): Promise<PatroniPair> {
  const found = findPatroni();
  if (found === undefined) throw new Error("install Debian's postgresql, patroni, etcd-server and haproxy");
  const { programs } = found;
  const home = mkdtempSync(join(tmpdir(), "tributary-patroni-"));
  if (process.getuid?.() === 0) chownSync(home, UNPRIVILEGED_ID, UNPRIVILEGED_ID);
  const [etcdPort, peerPort, port] = [await chooseFreePort(), await chooseFreePort(), await chooseFreePort()];
  const children: ChildProcess[] = [];
  const logOf = (name: string) => join(home, `${name}.log`);
  const launch = (name: string, command: readonly string[], data = "") => {
    const child = spawn("sh", ["-c", WATCHDOG, "watchdog", logOf(name), data, programs, ...command], {
      ...identity(),
      cwd: home,
      detached: true,
      stdio: ["pipe", "ignore", "ignore"],
      env: { ...process.env, HOME: home },
    });
    child.unref();
    (child.stdin as Socket).unref();
    children.push(child);
    return child;
  };
  const readLogs = () =>
    readdirSync(home)
      .filter((name) => name.endsWith(".log"))
      .map((name) => `${name}: ${readFileSync(join(home, name), "utf8").slice(-LOG_CHARS_MAX)}`)
      .join("\n");
  const until = async (what: string, isDone: () => Promise<boolean>) => {
    for (let polls = 0; polls < POLLS_MAX; polls += 1) {
      if (await isDone().catch(() => false)) return;
      await delay(POLL_MS);
    }
    throw new Error(`${what}: ${readLogs()}`);
  };
  const etcdUrl = `http://127.0.0.1:${etcdPort}`;
  const peerUrl = `http://127.0.0.1:${peerPort}`;
  launch("etcd", [
    "etcd",
    "--name=drill",
    `--data-dir=${join(home, "etcd")}`,
    `--initial-cluster=drill=${peerUrl}`,
    `--listen-client-urls=${etcdUrl}`,
    `--advertise-client-urls=${etcdUrl}`,
    `--listen-peer-urls=${peerUrl}`,
    `--initial-advertise-peer-urls=${peerUrl}`,
  ]);
  await until("etcd does not start", async () => (await fetch(`${etcdUrl}/health`)).ok);
  const servers: Server[] = [];
  for (const name of ["one", "two"]) {
    const [restPort, serverPort] = [await chooseFreePort(), await chooseFreePort()];
    const server: Server = { name, restPort, port: serverPort, data: join(home, name, "data") };
    mkdirSync(join(home, name), { mode: 0o700 });
    const file = join(home, `${name}.yml`);
    writeFileSync(file, patroniFile(server, { etcdPort, programs, home }));
    if (process.getuid?.() === 0)
      for (const path of [join(home, name), file]) chownSync(path, UNPRIVILEGED_ID, UNPRIVILEGED_ID);
    servers.push(server);
    server.watchdog = launch(name, ["patroni", file], server.data);
    const place = name === "one" ? "primary" : "sync";
    await until(`${name} is no ${place}`, async () => (await fetch(`http://127.0.0.1:${restPort}/${place}`)).ok);
  }
  const haproxyFile = join(home, "haproxy.cfg");
  writeFileSync(haproxyFile, haproxyConfig(servers, port));
  launch("haproxy", ["haproxy", "-db", "-f", haproxyFile]);
  const urlOf = (database: string) => `postgres://postgres:${PASSWORD}@127.0.0.1:${port}/${database}`;
  // Until its first checks HAProxy leads to both servers in turn.
  await until("HAProxy does not lead to the primary alone", async () => {
    for (let turn = 0; turn < 2 * servers.length; turn += 1)
      if ((await ask(urlOf("postgres"), "select pg_is_in_recovery() as standby"))?.["standby"] !== false) return false;
    return true;
  });
  return {
    urlOf,
    async createDatabase(name) {
      await ask(urlOf("postgres"), `create database ${name}`);
      const db = await openDatabase({ url: urlOf(name) });
      await migrate(db, { appliedAt: new Date() });
      await db.close();
    },
    async makeSynchronous() {
      const replicas = "select count(*)::int4 as count from pg_stat_replication where sync_state = 'sync'";
      await until("no standby is synchronous", async () => (await ask(urlOf("postgres"), replicas))?.["count"] === 1);
    },
    async failOver() {
      const [primary] = servers;
      if (primary === undefined) throw new Error("there is no server");
      const postmaster = Number.parseInt(readFileSync(join(primary.data, "postmaster.pid"), "utf8"), 10);
      // Patroni first, which would start the server again.
      for (const pid of [...childrenOf(primary.watchdog?.pid ?? 0), postmaster]) process.kill(pid, "SIGKILL");
    },
    async remove() {
      for (const child of children.toReversed()) {
        child.ref();
        child.stdin?.end();
        if (child.exitCode === null) await once(child, "exit");
      }
      execFileSync("rm", ["-rf", home]);
    },
  };
}

function identity(): { uid?: number; gid?: number } {
  return process.getuid?.() === 0 ? { uid: UNPRIVILEGED_ID, gid: UNPRIVILEGED_ID } : {};
}

/** The sample with the ports and the folder of this drill. Every replacement must find its text. */
function patroniFile(
  { name, restPort, port, data }: Server,
  { etcdPort, programs, home }: { etcdPort: number; programs: string; home: string },
): string {
  return replaceAll(readFileSync(`${DEPLOY}patroni.yml`, "utf8"), [
    ["name: one", `name: ${name}`],
    ["127.0.0.1:8008", `127.0.0.1:${restPort}`],
    ["127.0.0.1:2379", `127.0.0.1:${etcdPort}`],
    ["127.0.0.1:5432", `127.0.0.1:${port}`],
    ["/var/lib/postgresql/15/tributary", data],
    ["/usr/lib/postgresql/15/bin", programs],
    ["change-me", PASSWORD],
    ["        max_connections: 200", `        max_connections: 200\n        unix_socket_directories: ${home}`],
    ["local all all peer", "local all all trust"],
  ]);
}

function haproxyConfig(servers: readonly Server[], port: number): string {
  return replaceAll(readFileSync(`${DEPLOY}haproxy.cfg`, "utf8"), [
    ["127.0.0.1:5000", `127.0.0.1:${port}`],
    ...servers.map(({ name, port: own, restPort }, index): [string, string] => [
      `server ${name} 127.0.0.${index + 1}:5432 check port 8008`,
      `server ${name} 127.0.0.1:${own} check port ${restPort}`,
    ]),
  ]);
}

function replaceAll(text: string, pairs: readonly [from: string, to: string][]): string {
  return pairs.reduce((changed, [from, to]) => {
    if (!changed.includes(from)) throw new Error(`the sample has no ${from}`);
    return changed.replaceAll(from, to);
  }, text);
}

/** The processes that a process has started itself. */
function childrenOf(pid: number): number[] {
  const { stdout } = spawnSync("ps", ["-o", "pid=", "--ppid", String(pid)], { encoding: "utf8" });
  return stdout.split("\n").flatMap((line) => (/patroni|\d/.test(line) ? [Number(line)] : []));
}

async function ask(url: string, text: string): Promise<Record<string, unknown> | undefined> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 3_000 });
  await client.connect();
  try {
    return (await client.query<Record<string, unknown>>(text)).rows[0];
  } finally {
    await client.end();
  }
}
