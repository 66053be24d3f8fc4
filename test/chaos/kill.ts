import { setTimeout as delay } from "node:timers/promises";
import { HUB } from "../../src/cli/dev/contracts.ts";
import { findPort } from "../../src/cli/dev/port.ts";
import { openDatabase, type Db } from "../../src/db/database.ts";
import { migrate } from "../../src/db/migrate.ts";
import { startTestChain, type TestChain } from "../support/chain.ts";
import { addMerchant } from "../support/merchants.ts";
import { startPostgres } from "../support/postgres.ts";
import { openSite, type ServiceSite } from "../support/service.ts";
import { Merchants, type Merchant } from "./merchants.ts";
import { Payers } from "./payers.ts";
import { Random } from "./random.ts";
import { unsettled, verify, type Findings } from "./verify.ts";

// kill -9 of the real service under load, with a PostgreSQL that keeps what it confirms and a chain. Nothing that was acknowledged
// may be lost, and nothing may happen twice.

export type KillOptions = {
  kills: number;
  seed: number;
  /** A reorganisation once in so many payments; none when absent. */
  reorgOnceIn?: number;
  /** How long a service lives at most. */
  lifeMsMax?: number;
  say?: (line: string) => void;
};

export type KillReport = Findings & {
  kills: number;
  startsKilled: number;
  acknowledged: number;
  repeated: number;
  refused: readonly string[];
  payments: number;
  reorgs: number;
  settlements: number;
  unsettled: number;
  exitCode: number | null;
  /** What the last service said at its end. */
  said: string;
};

export type Chaos = {
  chain: TestChain;
  db: Db;
  databaseUrl: string;
  site: ServiceSite;
  merchants: readonly Merchant[];
  close(): Promise<void>;
};

/** Several, so that no account's limit of creates is met. */
const MERCHANTS = 6;
const FEE_BPS = 50;
const LIFE_MS_MAX = 2_500;
/** One service in so many is killed before it has said that it is ready. */
const START_KILLED_ONCE_IN = 8;
const WORDS_MAX = 4_000;
/** A service that has got on with nothing for so long never will. */
const STANDSTILL_MS_MAX = 90_000;

/** Database, chain, merchants, and a place for the service. */
export async function openChaos(): Promise<Chaos> {
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
  const site = await openSite({ chain, databaseUrl, port: await findPort("127.0.0.1", 0) });
  return {
    chain,
    db,
    databaseUrl,
    site,
    merchants,
    close: async () => {
      await db.close();
      await Promise.all([chain.stop(), server.remove(), site.remove()]);
    },
  };
}

export async function runKills(options: KillOptions): Promise<KillReport> {
  const chaos = await openChaos();
  try {
    return await killUnderLoad(chaos, options);
  } finally {
    await chaos.close();
  }
}

async function killUnderLoad(chaos: Chaos, options: KillOptions): Promise<KillReport> {
  const { chain, db, site } = chaos;
  const { kills, seed, reorgOnceIn, lifeMsMax = LIFE_MS_MAX, say = () => undefined } = options;
  const random = new Random(seed);
  // Each has its own source, so that what one of them draws does not depend on how quick the others are.
  const merchants = new Merchants(site.baseUrl, new Random(random.below(2 ** 31)));
  const { acknowledged, tally } = merchants;
  const payers = new Payers({
    chain,
    random: new Random(random.below(2 ** 31)),
    acknowledged,
    ...(reorgOnceIn === undefined ? {} : { reorgOnceIn }),
  });
  const load = new AbortController();
  const atWork = [...chaos.merchants.map((one) => merchants.work(one, load.signal)), payers.work(load.signal)];
  let startsKilled = 0;
  for (let kill = 1; kill <= kills; kill += 1) {
    const lifeMs = random.below(lifeMsMax);
    const isEarly = random.onceIn(START_KILLED_ONCE_IN);
    if (isEarly) startsKilled += 1;
    await (isEarly ? site.startAndKill(lifeMs) : liveFor(site, lifeMs));
    say(
      `kill ${kill} after ${lifeMs} ms${isEarly ? " of its start" : ""}: ${acknowledged.length} acknowledged, ${payers.payments} paid`,
    );
  }
  load.abort();
  await Promise.all(atWork);
  const last = await site.start();
  for (const merchant of chaos.merchants) await merchants.create(merchant);
  await settleAll(chaos);
  for (const intent of acknowledged) await merchants.read(intent);
  const exitCode = await last.stop();
  const findings = await verify(db, { chain, acknowledged });
  findings.lost.push(...tally.missing.map((intentId) => `intent ${intentId} was acknowledged and then not found`));
  const landed = await db.read.selectFrom("settlement").select("id").where("status", "=", "landed").execute();
  return {
    ...findings,
    kills,
    startsKilled,
    acknowledged: acknowledged.length,
    repeated: tally.unanswered,
    refused: tally.refused,
    payments: payers.payments,
    reorgs: payers.reorgs,
    settlements: landed.length,
    unsettled: await unsettled(db),
    exitCode,
    said: last.said().slice(-WORDS_MAX),
  };
}

async function liveFor(site: ServiceSite, lifeMs: number): Promise<void> {
  const running = await site.start();
  await delay(lifeMs);
  await running.kill();
}

/**
 * Waits until all money is where it belongs, for as long as it gets on. A chain that stands still would never be final, so it goes on by
 * an empty block.
 */
export async function settleAll({ chain, db }: Pick<Chaos, "chain" | "db">): Promise<void> {
  await chain.mine(1);
  let best = Infinity;
  let deadline = performance.now() + STANDSTILL_MS_MAX;
  while (performance.now() < deadline) {
    await delay(500);
    const head = await chain.client.getBlockNumber();
    const cursor = await db.read.selectFrom("chain_cursor").select(["number"]).executeTakeFirst();
    const left = await unsettled(db);
    if (cursor !== undefined && cursor.number >= head && left === 0) return;
    if (left >= best) continue;
    best = left;
    deadline = performance.now() + STANDSTILL_MS_MAX;
  }
}
