import { setTimeout as delay } from "node:timers/promises";
import { HUB } from "../../src/dev/chains/contracts.ts";
import { findPort } from "../../src/dev/findPort.ts";
import { openDatabase, type Db } from "../../src/db/database.ts";
import { migrate } from "../../src/db/migrate.ts";
import { startTestChain, type TestChain } from "../support/chain.ts";
import { addMerchant } from "../support/merchants.ts";
import { startPostgres } from "../support/postgres.ts";
import { openInstallation, type ServiceInstallation } from "../support/serviceInstallation.ts";
import { MerchantClients, type Merchant } from "./merchants.ts";
import { Payers } from "./payers.ts";
import { SeededRandom } from "./seededRandom.ts";
import { countUnsettled, verifyFinalState, type Findings } from "./verifyFinalState.ts";

// kill -9 of the real service under load, with a PostgreSQL that keeps what it confirms and a chain. Nothing that was acknowledged
// may be lost, and nothing may happen twice.

export type KillOptions = {
  kills: number;
  seed: number;
  /** A reorganisation once in so many payments; none when absent. */
  reorgOnceIn?: number;
  /** How long a service lives at most. */
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
  /** What the last service said at its end. */
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

/** Several, so that no account's limit of creates is met. */
const MERCHANTS = 6;
const FEE_BPS = 50;
const LIFE_MS_MAX = 2_500;
/** One service in so many is killed before it has said that it is ready. */
const EARLY_KILL_ONE_IN = 8;
const OUTPUT_CHARS_MAX = 4_000;
/** A service that has got on with nothing for so long never will. */
const STALL_MS_MAX = 90_000;

/** Database, chain, merchants, and a place for the service. */
export async function openChaosContext(): Promise<ChaosContext> {
  const [chain, server] = await Promise.all([
    startTestChain({ hub: HUB }),
    startPostgres(undefined, { isDurable: true }),
  ]);
  // No reorganisation may take away what the chain was furnished with.
  await chain.mine(10);
  const databaseUrl = server.urlOf("postgres");
  const db = await openDatabase({ url: databaseUrl });
  await migrate(db, { appliedAt: new Date() });
  const merchants: Merchant[] = [];
  for (let index = 0; index < MERCHANTS; index += 1) {
    const wallet = `0x${(0x5000 + index).toString(16).padStart(40, "2")}`;
    const made = await addMerchant(db, { feeBps: FEE_BPS, chainReference: String(chain.chainId), wallet });
    merchants.push({ name: `merchant ${index + 1}`, ...made });
  }
  const installation = await openInstallation({ chain, databaseUrl, port: await findPort("127.0.0.1", 0) });
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
  // Each has its own source, so that what one of them draws does not depend on how quick the others are.
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
      `kill ${kill} after ${lifeMs} ms${isEarly ? " of its start" : ""}: ${acknowledged.length} acknowledged, ${payers.payments} paid`,
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
 * Waits until all money is where it belongs, for as long as it gets on. A chain that stands still would never be final, so it goes on by
 * an empty block.
 */
export async function waitUntilSettled({ chain, db }: Pick<ChaosContext, "chain" | "db">): Promise<void> {
  await chain.mine(1);
  let best = Infinity;
  let deadline = performance.now() + STALL_MS_MAX;
  while (performance.now() < deadline) {
    await delay(500);
    const head = await chain.client.getBlockNumber();
    const cursor = await db.root.selectFrom("chain_cursor").select(["number"]).executeTakeFirst();
    const left = await countUnsettled(db);
    if (cursor !== undefined && cursor.number >= head && left === 0) return;
    if (left >= best) continue;
    best = left;
    deadline = performance.now() + STALL_MS_MAX;
  }
}
