import { execFileSync, spawn, spawnSync } from "node:child_process";
import { chmodSync, chownSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { once } from "node:events";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { chooseFreePort } from "./freePort.ts";

// A real PgBouncer, Debian's, before a server of tests.

const UNPRIVILEGED_ID = 65_534;
const TRIES_MAX = 400;
const PAUSE_MS = 25;

/** The reason to skip tests that need it; false where it is installed. */
export const skipWithoutPgbouncer: string | false =
  spawnSync("pgbouncer", ["--version"]).status === 0 ? false : "PgBouncer is not installed: apt-get install pgbouncer";

export type Pgbouncer = {
  urlOf(database: string): string;
  /** The certificate of the CA that signed the pooler's own; only with TLS. */
  caFile: string;
  stop(): Promise<void>;
};

export type PgbouncerOptions = {
  /** The folder of the server's socket. */
  socketDirectory: string;
  mode: "session" | "transaction";
  clientsMax?: number;
  hasTls?: boolean;
};

export async function startPgbouncer({
  socketDirectory,
  mode,
  clientsMax = 100,
  hasTls = false,
}: PgbouncerOptions): Promise<Pgbouncer> {
  const home = mkdtempSync(join(tmpdir(), "tributary-pgbouncer-"));
  const port = await chooseFreePort();
  if (hasTls) createCertificates(home);
  const tls = hasTls
    ? [
        "client_tls_sslmode = require",
        `client_tls_key_file = ${home}/server.key`,
        `client_tls_cert_file = ${home}/server.crt`,
      ]
    : [];
  const file = join(home, "pgbouncer.ini");
  const lines = [
    "[databases]",
    `* = host=${socketDirectory} user=tributary`,
    "[pgbouncer]",
    "listen_addr = 127.0.0.1",
    `listen_port = ${port}`,
    "unix_socket_dir =",
    "auth_type = any",
    `pool_mode = ${mode}`,
    `max_client_conn = ${clientsMax}`,
    "default_pool_size = 20",
    ...tls,
  ];
  writeFileSync(file, `${lines.join("\n")}\n`);
  giveAway(home);
  const child = spawn("pgbouncer", ["-q", file], { stdio: "ignore", ...identity() });
  const exited = once(child, "exit");
  await untilListening(port);
  return {
    urlOf: (database) => `postgres://tributary@127.0.0.1:${port}/${database}`,
    caFile: join(home, "ca.crt"),
    async stop() {
      child.kill("SIGQUIT");
      await exited;
      rmSync(home, { recursive: true });
    },
  };
}

function createCertificates(home: string): void {
  const openssl = (...args: string[]) => execFileSync("openssl", args, { cwd: home, stdio: "pipe" });
  const key = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"];
  openssl("req", "-x509", ...key, "-keyout", "ca.key", "-out", "ca.crt", "-subj", "/CN=test CA", "-days", "2");
  openssl("req", ...key, "-keyout", "server.key", "-out", "server.csr", "-subj", "/CN=127.0.0.1");
  writeFileSync(join(home, "names"), "subjectAltName=IP:127.0.0.1\n");
  const signing = ["-CA", "ca.crt", "-CAkey", "ca.key", "-CAcreateserial", "-days", "2", "-extfile", "names"];
  openssl("x509", "-req", "-in", "server.csr", "-out", "server.crt", ...signing);
}

function identity(): { uid?: number; gid?: number } {
  return process.getuid?.() === 0 ? { uid: UNPRIVILEGED_ID, gid: UNPRIVILEGED_ID } : {};
}

function giveAway(home: string): void {
  if (process.getuid?.() !== 0) return;
  chmodSync(home, 0o755);
  for (const name of readdirSync(home)) chownSync(join(home, name), UNPRIVILEGED_ID, UNPRIVILEGED_ID);
}

async function untilListening(port: number): Promise<void> {
  for (let tries = 0; tries < TRIES_MAX; tries += 1) {
    const socket = connect(port, "127.0.0.1");
    const isOpen = await Promise.race([
      once(socket, "connect").then(() => true),
      once(socket, "error").then(
        () => false,
        () => false,
      ),
    ]).catch(() => false);
    socket.destroy();
    if (isOpen) return;
    await sleep(PAUSE_MS);
  }
  throw new Error("PgBouncer did not start");
}
