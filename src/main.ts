import { enableWasmKeccak } from "@tributary/inbox/wasmKeccak";
import type { FastifyInstance } from "fastify";
import type { Logger } from "pino";
import { buildCatalog, type Catalog } from "./catalog/catalog.ts";
import { listMissingTokens, saveServedTokens, type MissingToken } from "./catalog/store.ts";
import type { Chain } from "./chain/chain.ts";
import { openAttestationClient } from "./chain/evm/bridge/attestationClient.ts";
import { openEvmChain } from "./chain/evm/openEvmChain.ts";
import { openRemoteGate } from "./gate/remoteGate.ts";
import { ChainMismatch } from "./chain/providers.ts";
import { verifyChain } from "./chain/verifyChain.ts";
import { openSolanaChain } from "./chain/solana/openSolanaChain.ts";
import { verifyInboxProgram } from "./chain/solana/verifyInboxProgram.ts";
import { isEvmChainConfig, type Config, type TracingConfig, type WatchedChainConfig } from "./config/config.ts";
import { ConfigError } from "./config/section.ts";
import { outboundPolicy } from "./config/outbound.ts";
import { openDatabase, type Db } from "./db/database.ts";
import { createSchema } from "./db/postgres/createSchema.ts";
import { Replica } from "./db/postgres/replica.ts";
import { DatabaseUnusable } from "./db/errors.ts";
import { analyzeTables, migrate, pendingMigrations } from "./db/migrate.ts";
import { openServerClock } from "./db/serverClock.ts";
import { addOpsRoutes } from "./http/ops/opsRoutes.ts";
import { buildServer } from "./http/server.ts";
import { leaveAndClose } from "./http/wire/leaving.ts";
import type { Caip2 } from "./kernel/caip.ts";
import { productVersion } from "./config/operate/productVersion.ts";
import { systemTimer, type Clock } from "./kernel/clock.ts";
import { systemEntropy } from "./kernel/entropy.ts";
import { thisHost } from "./kernel/alarm/hostMetrics.ts";
import { openOutbound } from "./kernel/outbound/outbound.ts";
import { openTracing, type Tracing } from "./kernel/tracing/tracing.ts";
import { createWake } from "./kernel/wake.ts";
import { ProcessMemory } from "./kernel/processMemory.ts";
import { startMetricsServer } from "./metrics/metricsServer.ts";
import { runLoops } from "./loops/runLoops.ts";
import type { World } from "./world.ts";

// The composition root: turns a configuration into a running service. It closes everything in the reverse order of
// opening.

export type OpenOptions = {
  log: Logger;
  /** Called once when the process can no longer be trusted; it must then end. */
  onFatal: (error: unknown) => void;
  /** The result of `openChains`, when the caller has called it before. */
  chains?: ReadonlyMap<Caip2, Chain>;
  /** A migrated dump to load into an empty embedded database. */
  snapshot?: Blob;
  /**
   * What happens to a database whose schema is older than this program's; "migrate" by default. "keep" opens it as it
   * is.
   */
  schema?: "migrate" | "require" | "keep";
};

/**
 * Opens the database. To serve, it migrates the schema and records the configured tokens. Throws DatabaseUnusable with
 * a one-sentence reason when that fails, when the schema is required and older, or when the configuration lacks a token
 * that may still be paid.
 */
export async function openWorld(config: Config, options: OpenOptions): Promise<World> {
  const { log, chains = openChains(config, log) } = options;
  const mayCreate = (options.schema ?? "migrate") === "migrate";
  const db = await openConfiguredDatabase(config, { ...options, mayCreate });
  try {
    const clock = await openServerClock(db);
    const catalog = buildCatalog(config);
    const { schema = "migrate" } = options;
    if (schema === "migrate") {
      const applied = await migrateAndAnalyze(db, clock);
      if (applied.length > 0) log.info({ migrations: applied }, "schema migrated");
    }
    const pending = await pendingMigrations(db);
    if (pending.length > 0 && schema === "require") throw schemaTooOld(pending);
    if (pending.length === 0) await rejectMissingTokens(db, catalog);
    if (schema === "migrate") await saveServedTokens(db, catalog, clock.now());
    const gate = config.gate === undefined ? {} : { gate: openRemoteGate(config.gate) };
    const bridge = config.bridge === undefined ? {} : { bridge: openAttestationClient(config.bridge.attestationUrl) };
    return {
      config,
      db,
      clock,
      refreshClock: () => clock.refresh(),
      hostMetrics: thisHost,
      entropy: systemEntropy,
      wake: createWake(clock),
      memory: new ProcessMemory(),
      catalog,
      chains,
      ...gate,
      ...bridge,
      ...openReplica(config, { clock, log }),
      ...(config.tracing === undefined ? {} : { tracing: await openConfiguredTracing(config.tracing) }),
      outbound: openOutbound({ policy: outboundPolicy(config), userAgent: `Tributary/${productVersion()}` }),
      log,
    };
  } catch (error) {
    await db.close();
    throw error;
  }
}

/**
 * Closes what the world owns in the reverse order of opening. One that fails stops no other; the error is thrown at the
 * end.
 */
export async function closeWorld(
  world: Pick<World, "db" | "replica" | "gate" | "bridge" | "outbound" | "tracing">,
): Promise<void> {
  const { db, replica, gate, bridge, outbound, tracing } = world;
  await using closing = new AsyncDisposableStack();
  closing.defer(() => db.close());
  closing.defer(() => replica?.close());
  closing.defer(() => gate?.close());
  closing.defer(() => bridge?.close());
  closing.defer(() => outbound?.close());
  closing.defer(() => tracing?.close());
}

function schemaTooOld(pending: readonly string[]): DatabaseUnusable {
  const list = pending.length > 3 ? `${pending[0]} to ${pending.at(-1)}` : pending.join(", ");
  return new DatabaseUnusable(
    `the database lacks the migrations ${list}: run \`tributary migrate\`, or start the service`,
  );
}

/** Migrates the schema and does nothing else. Returns the names of the applied migrations. */
export async function migrateDatabase(
  config: Config,
  options: Pick<OpenOptions, "log" | "onFatal">,
): Promise<string[]> {
  const db = await openConfiguredDatabase(config, { ...options, mayCreate: true });
  try {
    const clock = await openServerClock(db);
    return await migrateAndAnalyze(db, clock);
  } finally {
    await db.close();
  }
}

async function migrateAndAnalyze(db: Db, clock: Clock): Promise<string[]> {
  const applied = await migrate(db, { appliedAt: clock.now() });
  if (applied.length > 0) await analyzeTables(db);
  return applied;
}

async function rejectMissingTokens(db: Db, catalog: Catalog): Promise<void> {
  const missing = await listMissingTokens(db, catalog);
  if (missing.length === 0) return;
  const nameOf = ({ chain, token, symbol }: MissingToken) =>
    `${symbol === "" ? token : `${symbol} (${token})`} on ${chain}`;
  throw new DatabaseUnusable(
    `the configuration lacks tokens that intents in the database still use: ${missing.map(nameOf).join(", ")}. Payments in them would not ` +
      `be seen: put them back, with "isOrigin" and "isRail" false to stop new use.`,
  );
}

/** Creates a client for every chain, without connecting. */
export function openChains(config: Config, log: Logger): ReadonlyMap<Caip2, Chain> {
  return new Map(config.chains.map((chain) => [chain.caip2, openChain(chain, config, log)]));
}

function openChain(chain: WatchedChainConfig, { chains }: Config, log: Logger): Chain {
  const surroundings = { clock: systemTimer, log };
  return isEvmChainConfig(chain) ? openEvmChain(chain, surroundings, chains) : openSolanaChain(chain, surroundings);
}

/**
 * Compares every reachable chain with its configuration, and the inbox programs on Solana with this release.
 * @throws ChainMismatch with one line for each chain that differs.
 */
export async function verifyChains(config: Config, chains: ReadonlyMap<Caip2, Chain>, log: Logger): Promise<void> {
  const ends = await Promise.allSettled([
    ...(config.solanaPrograms ?? []).map((program) => verifyInboxProgram(program, log)),
    ...config.chains.map(async (chainConfig) => {
      const chain = chains.get(chainConfig.caip2);
      if (chain !== undefined) await verifyChain(chainConfig, chain);
    }),
  ]);
  const sentences = new Set<string>();
  for (const end of ends) {
    if (end.status === "fulfilled") continue;
    if (!(end.reason instanceof ChainMismatch)) throw end.reason;
    sentences.add(end.reason.message);
  }
  if (sentences.size > 0) throw new ChainMismatch([...sentences].join("\n"));
}

export type Service = {
  /**
   * Leaves, then accepts no new work, finishes running work and closes the database. A second call returns the same
   * promise.
   */
  stop(): Promise<void>;
};

export type ServiceOptions = {
  /** Adds pages to the server before it listens. */
  extend?: (server: FastifyInstance) => void;
  onFatal: (error: unknown) => void;
  /**
   * How long it still answers once it stops, while each response closes its connection and it reports itself not
   * ready. Absent: not at all.
   */
  leaveMs?: number | undefined;
};

/**
 * Serves requests and runs the loops until `stop`. Throws when it cannot listen on the address; the world is then still
 * open.
 */
export async function startService(world: World, { extend, onFatal, leaveMs = 0 }: ServiceOptions): Promise<Service> {
  await enableWasmKeccak();
  const leaving = { isLeaving: false };
  const server = await buildServer(world, { onFatal, leaving });
  extend?.(server);
  try {
    await server.listen(world.config.listen);
  } catch (error) {
    await server.close();
    throw error;
  }
  const metrics = await listenForMetrics(world, server);
  const shutdown = new AbortController();
  // A loop ends only on `shutdown` or on a broken invariant.
  const loops = runLoops(world, shutdown.signal).catch(onFatal);
  const stop = async () => {
    // Whatever fails to close, the database is closed as the last.
    await using closing = new AsyncDisposableStack();
    closing.defer(() => closeWorld(world));
    shutdown.abort();
    // All are awaited, because a loop that still runs needs the database.
    const ends = await Promise.allSettled([leaveAndClose(server, leaving, leaveMs), metrics?.close(), loops]);
    const failure = ends.find((end) => end.status === "rejected");
    if (failure !== undefined) throw failure.reason;
  };
  let stopped: Promise<void> | undefined;
  return { stop: () => (stopped ??= stop()) };
}

async function listenForMetrics(world: World, server: FastifyInstance): Promise<FastifyInstance | undefined> {
  if (world.config.metrics === undefined) return undefined;
  try {
    return await startMetricsServer(world, world.config.metrics, (listener) => addOpsRoutes(listener, world));
  } catch (error) {
    await server.close();
    throw error;
  }
}

/** Throws ConfigError when the packages are not installed: only an installation with tracing needs them. */
async function openConfiguredTracing(tracing: TracingConfig): Promise<Tracing> {
  try {
    return await openTracing({ ...tracing, version: productVersion() });
  } catch (error) {
    const packages = ["api", "sdk-trace", "resources", "exporter-trace-otlp-http"].map(
      (name) => `@opentelemetry/${name}`,
    );
    throw new ConfigError(`tracing: a package is missing; run npm install ${packages.join(" ")}.`, { cause: error });
  }
}

/** Does not connect: the copy may be away. */
function openReplica({ database }: Config, { clock, log }: Pick<World, "clock" | "log">): Pick<World, "replica"> {
  if (database.kind !== "postgres" || database.replicaUrl === undefined) return {};
  return { replica: new Replica({ url: database.replicaUrl, schema: database.schema, clock, log }) };
}

async function openConfiguredDatabase(
  config: Config,
  { onFatal, snapshot, mayCreate }: Pick<OpenOptions, "onFatal" | "snapshot"> & { mayCreate: boolean },
): Promise<Db> {
  const { database } = config;
  if (database.kind === "pglite") {
    const directory = database.directory ?? "memory";
    return openDatabase({ directory, onAbort: onFatal, ...(snapshot === undefined ? {} : { snapshot }) });
  }
  try {
    if (mayCreate && database.schema !== undefined) await createSchema(database.url, database.schema);
    const { url, schema, acceptsUnsafeFsync: allowUnsafeFsync = false } = database;
    return await openDatabase({ url, schema, allowUnsafeFsync, refusesSharedSessions: true });
  } catch (error) {
    if (error instanceof DatabaseUnusable) throw error;
    const reason = error instanceof Error ? error.message : String(error);
    throw new DatabaseUnusable(
      `the database at ${URL.parse(database.url)?.host ?? "its URL"} cannot be used: ${reason}`,
      {
        cause: error,
      },
    );
  }
}
