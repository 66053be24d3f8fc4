import type { FastifyInstance } from "fastify";
import type { Logger } from "pino";
import { buildCatalog } from "./catalog/catalog.ts";
import { openChain, type Chain } from "./chain/chain.ts";
import { openEvmDriver } from "./chain/evm/driver.ts";
import { openGasAccount } from "./chain/evm/gasAccount.ts";
import { verifyChain } from "./chain/verifyChain.ts";
import type { ChainConfig, Config } from "./config.ts";
import { openDatabase, type Db } from "./db/database.ts";
import { migrate } from "./db/migrate.ts";
import { buildServer } from "./http/server.ts";
import type { Caip2 } from "./kernel/caip.ts";
import { systemClock } from "./kernel/clock.ts";
import { systemEntropy } from "./kernel/entropy.ts";
import { createWake } from "./kernel/wake.ts";
import { runLoops } from "./loops/run.ts";
import type { World } from "./world.ts";

// The composition root: configuration in, a running service out. Everything is opened in order and closed in the opposite one.

export type OpenOptions = {
  log: Logger;
  /** Told when nothing can be trusted any more; the process must end with FATAL_EXIT_CODE. */
  onFatal: (error: unknown) => void;
  /** A migrated dump for an embedded database that is still empty. */
  snapshot?: Blob;
};

/** Ends a process whose own reasoning or embedded database broke down: to stop is better than to be wrong. */
export const FATAL_EXIT_CODE = 70;

/** Opens the database, brings its schema up to date and puts the chains together; asks no chain anything. */
export async function openWorld(config: Config, options: OpenOptions): Promise<World> {
  const { log } = options;
  const clock = systemClock;
  const db = await openConfiguredDatabase(config, options);
  try {
    const taken = await migrate(db, { appliedAt: clock.now() });
    if (taken.length > 0) log.info({ migrations: taken }, "the schema was brought up to date");
    const chains = new Map<Caip2, Chain>(config.chains.map((chain) => [chain.caip2, openConfiguredChain(chain, log)]));
    const catalog = buildCatalog(config);
    return { config, db, clock, entropy: systemEntropy, wake: createWake(clock), catalog, chains, log };
  } catch (error) {
    await db.close();
    throw error;
  }
}

/**
 * Compares every chain that answers with its configuration.
 * @throws ChainRefused with one sentence when they differ.
 */
export async function verifyChains(world: World): Promise<void> {
  await Promise.all(
    world.config.chains.map(async (config) => {
      const chain = world.chains.get(config.caip2);
      if (chain !== undefined) await verifyChain(config, chain, world.log);
    }),
  );
}

export type Service = {
  /** Takes no new work, finishes what is under way and closes the database. It may be called twice. */
  stop(): Promise<void>;
};

export type ServiceOptions = {
  /** Adds pages to the server before it listens. */
  extend?: (server: FastifyInstance) => void;
  onFatal: (error: unknown) => void;
};

/** Answers requests and runs the loops until it is stopped. Throws when the address cannot be listened on. */
export async function startService(world: World, { extend, onFatal }: ServiceOptions): Promise<Service> {
  const server = await buildServer(world);
  extend?.(server);
  await server.listen(world.config.listen);
  const ending = new AbortController();
  // A loop ends by itself only when the program is wrong or told to; rows that wait are no reason.
  const loops = runLoops(world, ending.signal).catch(onFatal);
  const stop = async () => {
    ending.abort();
    await Promise.all([server.close(), loops]);
    await world.db.close();
  };
  let stopped: Promise<void> | undefined;
  return { stop: () => (stopped ??= stop()) };
}

function openConfiguredDatabase(config: Config, { onFatal, snapshot }: OpenOptions): Promise<Db> {
  const { database } = config;
  if (database.kind === "postgres") return openDatabase({ url: database.url });
  const directory = database.directory ?? "memory";
  return openDatabase({ directory, onAbort: onFatal, ...(snapshot === undefined ? {} : { snapshot }) });
}

function openConfiguredChain(config: ChainConfig, log: Logger): Chain {
  const [first, ...others] = config.rpcUrls.map((rpcUrl) => openEvmDriver({ caip2: config.caip2, rpcUrl }));
  if (first === undefined) throw new Error(`${config.name} has no RPC URL`);
  return openChain(
    { drivers: [first, ...others], gasAccount: openGasAccount(config.gasKey) },
    { clock: systemClock, log },
  );
}
