import { setTimeout as delay } from "node:timers/promises";
import { HUB } from "../../src/dev/chains/contracts.ts";
import { chooseFreePort } from "../support/freePort.ts";
import { openDatabase, type Db } from "../../src/db/database.ts";
import { startTestChain, type TestChain } from "../support/chain.ts";
import { addMerchant } from "../support/merchants.ts";
import { createDatabaseOn, startOwnServer } from "../support/database.ts";
import { openInstallation, type ServiceInstallation } from "../support/serviceInstallation.ts";
import { MerchantClients, type Merchant } from "./merchants.ts";
import { Payers } from "./payers.ts";
import { SeededRandom } from "./seededRandom.ts";
import { countUnsettled, verifyFinalState, type Findings } from "./verifyFinalState.ts";

// kill -9 of the real service under load, with a PostgreSQL that keeps what it confirms and a chain. Nothing that was
// acknowledged may be lost, and nothing may happen twice.

export type KillOptions = {
  kills: number;
  seed: number;
  /** The average number of payments per reorg; no reorgs when absent. */
  reorgOnceIn?: number;
  /** The maximum lifetime of a service. */
  lifeMsMax?: number;
  log?: (line: string) => void;
};

export type KillReport = Findings & {
  kills: number;
  startsKilled: number;
  acknowledged: number;
  unanswered: number;
  refused: readonly string[];
  payments: number;
  reorgs: number;
  settlements: number;
  unsettled: number;
  exitCode: number | null;
  /** The end of the last service's output. */
  output: string;
};

export type ChaosContext = {
  chain: TestChain;
  db: Db;
  databaseUrl: string;
  installation: ServiceInstallation;
  merchants: readonly Merchant[];
  close(): Promise<void>;
};

/** Enough to stay below each account's create limit. */
const MERCHANTS = 6;
const FEE_BPS = 50;
const LIFE_MS_MAX = 2_500;
/** One in this many kills happens during startup. */
const EARLY_KILL_ONE_IN = 8;
const OUTPUT_CHARS_MAX = 4_000;
/** Without progress for this long, the wait ends. */
const STALL_MS_MAX = 90_000;

/** Where the service's database is. */
type ChaosDatabase = { url: string; remove(): Promise<void> };

async function openOwnDatabase(): Promise<ChaosDatabase> {
  const server = await startOwnServer({ isDurable: true });
  return { url: await createDatabaseOn(server, "service"), remove: () => server.remove() };
}

/** Opens the database, the chain, the merchants and an installation of the service. */
export async function openChaosContext(openServer = openOwnDatabase): Promise<ChaosContext> {
  const [chain, server] = await Promise.all([startTestChain({ hub: HUB }), openServer()]);
  // Reorgs must not reach the deployed fixtures.
  await chain.mine(10);
  const { url: databaseUrl } = server;
  const db = await openDatabase({ url: databaseUrl });
  const merchants: Merchant[] = [];
  for (let index = 0; index < MERCHANTS; index += 1) {
    const wallet = `0x${(0x5000 + index).toString(16).padStart(40, "2")}`;
    const added = await addMerchant(db, { feeBps: FEE_BPS, chainReference: String(chain.chainId), wallet });
    merchants.push({ name: `merchant ${index + 1}`, ...added });
  }
  const installation = await openInstallation({ chain, databaseUrl, port: await chooseFreePort() });
  return {
    chain,
    db,
    databaseUrl,
    installation,
    merchants,
    close: async () => {
      await db.close();
      await Promise.all([chain.stop(), server.remove(), installation.remove()]);
    },
  };
}

export async function runKills(options: KillOptions): Promise<KillReport> {
  const chaos = await openChaosContext();
  try {
    return await killUnderLoad(chaos, options);
  } finally {
    await chaos.close();
  }
}

async function killUnderLoad(chaos: ChaosContext, options: KillOptions): Promise<KillReport> {
  const { chain, db, installation } = chaos;
  const { kills, seed, reorgOnceIn, lifeMsMax = LIFE_MS_MAX, log = () => undefined } = options;
  const random = new SeededRandom(seed);
  // Separate random sources keep each actor's choices independent of timing.
  const merchants = new MerchantClients(installation.baseUrl, new SeededRandom(random.below(2 ** 31)));
  const { acknowledged, counts } = merchants;
  const payers = new Payers({
    chain,
    random: new SeededRandom(random.below(2 ** 31)),
    acknowledged,
    ...(reorgOnceIn === undefined ? {} : { reorgOnceIn }),
  });
  const load = new AbortController();
  const workers = [...chaos.merchants.map((one) => merchants.run(one, load.signal)), payers.run(load.signal)];
  let startsKilled = 0;
  for (let kill = 1; kill <= kills; kill += 1) {
    const lifeMs = random.below(lifeMsMax);
    const isEarly = random.oneIn(EARLY_KILL_ONE_IN);
    if (isEarly) startsKilled += 1;
    await (isEarly ? installation.startAndKill(lifeMs) : runThenKill(installation, lifeMs));
    log(
      `kill ${kill} after ${lifeMs} ms${isEarly ? " of startup" : ""}: ${acknowledged.length} acknowledged, ${payers.payments} paid`,
    );
  }
  load.abort();
  await Promise.all(workers);
  const last = await installation.start();
  for (const merchant of chaos.merchants) await merchants.create(merchant);
  await waitUntilSettled(chaos);
  for (const intent of acknowledged) await merchants.read(intent);
  const exitCode = await last.stop();
  const findings = await verifyFinalState(db, { chain, acknowledged });
  findings.lost.push(...counts.notFound.map((intentId) => `intent ${intentId} was acknowledged and then not found`));
  const landed = await db.root.selectFrom("settlement").select("id").where("status", "=", "landed").execute();
  return {
    ...findings,
    kills,
    startsKilled,
    acknowledged: acknowledged.length,
    unanswered: counts.unanswered,
    refused: counts.refused,
    payments: payers.payments,
    reorgs: payers.reorgs,
    settlements: landed.length,
    unsettled: await countUnsettled(db),
    exitCode,
    output: last.output().slice(-OUTPUT_CHARS_MAX),
  };
}

async function runThenKill(site: ServiceInstallation, lifeMs: number): Promise<void> {
  const running = await site.start();
  await delay(lifeMs);
  await running.kill();
}

/**
 * Waits until all money is settled, while there is progress. A chain without new blocks would never be final, so this
 * mines one.
 */
export async function waitUntilSettled({ chain, db }: Pick<ChaosContext, "chain" | "db">): Promise<void> {
  await chain.mine(1);
  let best = Infinity;
  let deadline = performance.now() + STALL_MS_MAX;
  while (performance.now() < deadline) {
    await delay(500);
    if (await isSettled({ chain, db })) return;
    const unsettled = await countUnsettled(db, chain);
    if (unsettled >= best) continue;
    best = unsettled;
    deadline = performance.now() + STALL_MS_MAX;
  }
}

/**
 * Whether the service has recorded every block and has nothing left to do. Its intents know nothing of a payment that
 * is recorded and not processed yet, so the chain is compared too.
 */
export async function isSettled({ chain, db }: Pick<ChaosContext, "chain" | "db">): Promise<boolean> {
  if ((await countUnsettled(db, chain)) > 0 || (await countUnrecordedBlocks({ chain, db })) > 0) return false;
  const { lost, duplicated } = await verifyFinalState(db, { chain, acknowledged: [] });
  return lost.length + duplicated.length === 0;
}

/** The blocks that the chain has above the last recorded one. */
export async function countUnrecordedBlocks({ chain, db }: Pick<ChaosContext, "chain" | "db">): Promise<number> {
  const head = await chain.client.getBlockNumber();
  const cursors = db.root.selectFrom("chain_cursor").select("number");
  const cursor = await cursors.where("chain", "=", chain.caip2).executeTakeFirst();
  return Math.max(0, Number(head) - Number(cursor?.number ?? 0));
}
