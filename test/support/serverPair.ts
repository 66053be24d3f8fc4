import { once } from "node:events";
import { connect, createServer, type Socket } from "node:net";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import pg from "pg";
import { startOwnServer } from "./database.ts";
import type { PostgresServer } from "./postgres.ts";
import { linkSockets } from "./tcpProxy.ts";

/** A primary and a standby behind one address, as a managed database has them. */
export type ServerPair = {
  primary: PostgresServer;
  standby: PostgresServer;
  /** The URL of a database at the address that leads to the present primary. */
  urlOf(database: string): string;
  /** Makes the primary refuse every further write, at present sessions and at new ones, and keep its connections. */
  makePrimaryReadOnly(): Promise<void>;
  /**
   * Waits until the standby has everything, promotes it, and leads new connections to it. Present ones stay where they
   * are.
   */
  promoteStandby(): Promise<void>;
  /** The standby waits for no further commit of the primary, as one does whose network is slow. */
  stopReplication(): Promise<void>;
  /** From now on a commit is confirmed once the standby has it. */
  makeSynchronous(): Promise<void>;
  /** Waits until the standby has everything that is committed now. */
  untilReplicated(): Promise<void>;
  /** Kills the primary, promotes the standby with what it has, and leads new connections to it. */
  failOver(): Promise<void>;
  remove(): Promise<void>;
};

const POLL_MS = 20;
const POLLS_MAX = 3_000;

export async function startServerPair(): Promise<ServerPair> {
  const primary = await startOwnServer({ isDurable: true });
  const standby = await startOwnServer({ isDurable: true, standbyOf: primary });
  const address = await openAddress(primary);
  const untilReplicated = async () => {
    const written = await ask(primary, "select pg_current_wal_flush_lsn()::text");
    await until(async () => (await ask(standby, `select (pg_last_wal_replay_lsn() >= '${written}')::text`)) === "true");
  };
  return {
    primary,
    standby,
    urlOf: (database) => `postgres://tributary@127.0.0.1:${address.port}/${database}`,
    async makePrimaryReadOnly() {
      await ask(primary, "alter system set default_transaction_read_only = on");
      await ask(primary, "select pg_reload_conf()");
      // The reload is asynchronous. The server signals its present sessions before it accepts the first one that is
      // read-only.
      await until(async () => (await ask(primary, "show transaction_read_only")) === "on");
    },
    async promoteStandby() {
      // Transactions that began before may still write.
      await until(async () => (await ask(primary, WRITERS)) === "0");
      await untilReplicated();
      await ask(standby, "select pg_promote()");
      address.leadTo(standby);
    },
    async stopReplication() {
      await ask(standby, "alter system set primary_conninfo = ''");
      await ask(standby, "select pg_reload_conf()");
      await until(async () => (await ask(primary, "select count(*)::text from pg_stat_replication")) === "0");
    },
    async makeSynchronous() {
      await ask(primary, "alter system set synchronous_commit = on");
      await ask(primary, "alter system set synchronous_standby_names = '*'");
      await ask(primary, "select pg_reload_conf()");
      const replicas = "select count(*)::text from pg_stat_replication where sync_state = 'sync'";
      await until(async () => (await ask(primary, replicas)) === "1");
    },
    untilReplicated,
    async failOver() {
      process.kill(primary.processId, "SIGKILL");
      await ask(standby, "select pg_promote()");
      address.leadTo(standby);
    },
    async remove() {
      await address.close();
      await Promise.all([primary.remove(), standby.remove()]);
    },
  };
}

const WRITERS = "select count(*)::text from pg_locks where locktype = 'transactionid'";

async function openAddress(first: PostgresServer) {
  let target = first;
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    const upstream = connect(join(target.socketDirectory, ".s.PGSQL.5432"));
    linkSockets([socket, upstream], sockets);
    socket.pipe(upstream).pipe(socket);
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("the server has no port");
  return {
    port: address.port,
    leadTo(server: PostgresServer) {
      target = server;
    },
    async close() {
      server.close();
      for (const socket of sockets) socket.destroy();
      await once(server, "close");
    },
  };
}

/** Returns the only value of the answer as text. */
async function ask(server: PostgresServer, text: string): Promise<string> {
  const client = new pg.Client({ connectionString: server.urlOf("postgres") });
  await client.connect();
  try {
    const { rows } = await client.query<Record<string, unknown>>(text);
    return String(Object.values(rows[0] ?? {})[0]);
  } finally {
    await client.end();
  }
}

async function until(isDone: () => Promise<boolean>): Promise<void> {
  for (let polls = 0; polls < POLLS_MAX; polls += 1) {
    if (await isDone()) return;
    await delay(POLL_MS);
  }
  throw new Error("the pair of servers does not reach the expected state");
}
