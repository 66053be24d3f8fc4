import { mkdirSync } from "node:fs";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { hubSalt } from "@tributary/inbox/hub";
import { hubCreationCode } from "@tributary/inbox/hubCode";
import type { Logger } from "pino";
import type { Config, ProcessEnvironment } from "../config/config.ts";
import { loadMigratedSnapshot } from "../db/pglite/snapshot.ts";
import { addPageOrigin } from "../merchant/pageOrigins.ts";
import { systemClock } from "../kernel/clock.ts";
import { openWorld, startService, verifyChains } from "../main.ts";
import type { World } from "../world.ts";
import { CommandError } from "../operator/errors.ts";
import { readPort } from "../config/loadConfig.ts";
import { runOperation } from "../operator/runOperation.ts";
import { openHome } from "../operator/control/home.ts";
import { openReadableLog } from "../operator/process/logs.ts";
import { startOperatorControl } from "../operator/control/startOperatorControl.ts";
import { exitOnFatal } from "../operator/process/shutdown.ts";
import type { Terminal } from "../operator/process/terminal.ts";
import type { Chain } from "../chain/chain.ts";
import { initializeCursor } from "../watch/follow/initializeCursor.ts";
import { findCursor } from "../watch/store/store.ts";
import { startAttestationServer, type AttestationServer } from "./attestation/attestationServer.ts";
import { solanaSide } from "./attestation/solanaSide.ts";
import { BRIDGED_SYMBOL, DEV_CHAINS, devBridge, devConfig } from "./devConfig.ts";
import { addExplorer } from "./explorer/explorer.ts";
import { addDemoShop } from "./shop/demoShop.ts";
import { openShopEndpoint } from "./shop/shopWebhooks.ts";
import { ensureOwners, restoreMerchants } from "./devState.ts";
import { deployLocalBridge, type BridgeSide } from "./chains/bridge.ts";
import { createDevClient } from "./chains/devClient.ts";
import { startLocalChains, type LocalChain, type LocalChains } from "./chains/localChains.ts";
import type { DevSolana } from "./devSolana.ts";
import { findPort } from "./findPort.ts";
import { buildManifest } from "./devManifest.ts";
import type { DevManifest } from "./manifest.ts";

export type DevOptions = {
  terminal: Terminal;
  environment: ProcessEnvironment;
  /** Stores chains and database here for the next run; undefined stores nothing. */
  keep: string | undefined;
  logLevel: Config["logLevel"];
  /** See LocalChainsOptions. */
  isLikePublic?: boolean;
};

export type DevWorld = {
  manifest: DevManifest;
  log: Logger;
  /** Opens the operator's page once. */
  opsLink: string;
  /** Signs in to the dashboard of the first merchant once. */
  dashboardLink: string;
  /** The preferred port when it is in use; undefined when this world has it. */
  occupiedPort: number | undefined;
  /** Resolves when a chain has ended; before `stop`, that is a failure. */
  chainStopped: Promise<void>;
  stop(): Promise<void>;
};

const PORT_DEFAULT = 8_787;
const HOST = "127.0.0.1";

/**
 * Starts chains, database, merchants, API, loops and control socket. When one part fails, it stops the others and
 * throws.
 */
export async function startDev(options: DevOptions): Promise<DevWorld> {
  const { terminal, environment } = options;
  const directory = options.keep === undefined ? undefined : resolve(options.keep);
  if (directory !== undefined) mkdirSync(directory, { recursive: true, mode: 0o700 });
  const home = openHome(environment);
  const preferredPort = readPort(environment) ?? PORT_DEFAULT;
  const log = openReadableLog(options.logLevel, terminal);
  terminal.progress("starting three local chains and the database …");
  // The database snapshot is built or read while the chains start.
  const pendingSnapshot = prepareSnapshot(home);
  const chains = await startChains(directory, options.isLikePublic).catch(async (error: unknown) => {
    await pendingSnapshot.catch(() => undefined);
    throw error;
  });
  const solana = await startSolana(directory).catch(async (error: unknown) => {
    await Promise.allSettled([pendingSnapshot, chains.stop()]);
    throw error;
  });
  const sides = bridgeSides(chains.chains);
  const attestation = await startAttestationServer(sides, {
    now: () => systemClock.now().getTime(),
    others: [solanaSide(solana.chain.rpcUrl)],
  });
  // Deployed while the database opens.
  const pendingBridge = deployLocalBridge(sides, [solana.joinBridge(sides)]);
  pendingBridge.catch(() => undefined);
  try {
    const port = await findPort(HOST, preferredPort);
    const config = devConfig({
      chains: chains.chains,
      solana,
      attestationUrl: attestation.url,
      port,
      directory: directory === undefined ? undefined : join(directory, "database"),
      logLevel: options.logLevel,
    });
    terminal.progress("starting the service …");
    const world = await openWorld(config, {
      log,
      onFatal: exitOnFatal(log),
      snapshot: await pendingSnapshot,
    });
    const running = await runWorld(world, { chains, solana, attestation, pendingBridge, home, directory });
    return {
      ...running,
      log,
      occupiedPort: port === preferredPort ? undefined : preferredPort,
      chainStopped: chains.stopped,
    };
  } catch (error) {
    await Promise.allSettled([pendingSnapshot, pendingBridge]);
    await attestation.stop();
    await solana.stop();
    await chains.stop();
    throw error;
  }
}

/** The chains as a bridge that carries USDC joins them. */
function bridgeSides(chains: readonly LocalChain[]): BridgeSide[] {
  return chains.flatMap(({ chainId, rpcUrl, tokens }): BridgeSide[] => {
    const token = tokens.find(({ symbol }) => symbol === BRIDGED_SYMBOL);
    if (token === undefined) return [];
    return [{ chainId, client: createDevClient(rpcUrl), token: token.address, bridge: devBridge(chainId) }];
  });
}

async function startChains(directory: string | undefined, isLikePublic = false): Promise<LocalChains> {
  try {
    return await startLocalChains({
      chains: DEV_CHAINS,
      isLikePublic,
      hub: { creationCode: hubCreationCode, salt: hubSalt },
      ...(directory === undefined ? {} : { stateDirectory: join(directory, "chains") }),
    });
  } catch (error) {
    // The user can fix these causes: a directory or port in use, or a stored chain of another world.
    throw new CommandError(`The local chains did not start: ${error instanceof Error ? error.message : String(error)}`);
  }
}

/** The runtime of Solana is a development dependency, as anvil is. */
async function startSolana(directory: string | undefined): Promise<DevSolana> {
  try {
    const { startDevSolana } = await import("./devSolana.ts");
    return await startDevSolana(systemClock, directory === undefined ? undefined : join(directory, "solana"));
  } catch (error) {
    throw new CommandError(`The local Solana did not start: ${error instanceof Error ? error.message : String(error)}`);
  }
}

/** Loads the migrated snapshot from the package's cache folder, or from the user's folder when that is not writable. */
async function prepareSnapshot(home: string): Promise<Blob> {
  const appliedAt = systemClock.now();
  const packageCache = fileURLToPath(new URL("../../node_modules/.cache/tributary", import.meta.url));
  return loadMigratedSnapshot({ cacheDirectory: packageCache, appliedAt }).catch(() =>
    loadMigratedSnapshot({ cacheDirectory: join(home, "cache"), appliedAt }),
  );
}

/**
 * Starts each chain at its head before any address is issued: below an earlier address it would have hundreds of blocks
 * to catch up with.
 */
async function startCursors(world: World): Promise<void> {
  const start = async (chain: Chain) => {
    if ((await findCursor(world.db, chain.caip2)) !== undefined) return;
    await initializeCursor(world, chain);
  };
  await Promise.all([...world.chains.values()].map(start));
}

type DevParts = {
  chains: LocalChains;
  solana: DevSolana;
  attestation: AttestationServer;
  pendingBridge: Promise<void>;
  home: string;
  directory: string | undefined;
};

async function runWorld(
  world: World,
  { chains, solana, attestation, pendingBridge, home, directory }: DevParts,
): Promise<Pick<DevWorld, "manifest" | "opsLink" | "dashboardLink" | "stop">> {
  try {
    await pendingBridge;
    await verifyChains(world.config, world.chains, world.log);
    await startCursors(world);
    const accounts = await restoreMerchants(world, {
      directory,
      chains: chains.chains,
      solanaKeys: solana.recoveryKeys,
    });
    const manifest = buildManifest({ baseUrl: world.config.baseUrl, accounts, chains: chains.chains, solana });
    await ensureOwners(world, accounts);
    const [account] = accounts;
    if (account === undefined) throw new CommandError("The dev world has no merchant.");
    // The port may be another one than in the stored world.
    await addPageOrigin(world, { accountId: account.accountId, origin: world.config.baseUrl });
    const { secret } = await openShopEndpoint(world, account.accountId);
    const service = await startService(world, {
      extend: (server) => {
        addExplorer(server, chains.chains, solana);
        addDemoShop(server, {
          baseUrl: world.config.baseUrl,
          account,
          secret,
          clock: world.clock,
          chains: chains.chains,
          solana,
        });
      },
      onFatal: exitOnFatal(world.log),
    });
    const control = await startOperatorControl(world, { home, kind: "dev", ready: manifest });
    const stop = async () => {
      await control.close();
      await service.stop();
      await attestation.stop();
      // Last, because draining loops may still read their chain.
      await solana.stop();
      await chains.stop();
    };
    const { url: opsLink } = await runOperation(world, "ops link", {});
    const { accountId } = account;
    const { url: dashboardLink } = await runOperation(world, "members link", { accountId });
    return { manifest, opsLink, dashboardLink, stop };
  } catch (error) {
    await world.db.close();
    throw error;
  }
}
