import { parseArgs } from "node:util";
import { sql } from "kysely";
import { openDatabase, type Db } from "../../src/db/database.ts";
import { processMovements } from "../../src/deposit/processMovements.ts";
import { createIntent } from "../../src/intent/createIntent.ts";
import { observeSettlements } from "../../src/settlement/observe/observeSettlements.ts";
import { planSettlements } from "../../src/settlement/planSettlements.ts";
import { submitSettlements } from "../../src/settlement/submitSettlements.ts";
import { watchChain } from "../../src/watch/follow/watchChain.ts";
import { fillHistory } from "../cost/fillHistory.ts";
import { openMerchant } from "../cost/costWorld.ts";
import { openScriptedRoad, type ScriptedRoad } from "../cost/scriptedRoad.ts";
import { countMoney } from "../support/countMoney.ts";
import { createDatabaseOn, startOwnServer } from "../support/database.ts";
import { postgresVersion, type PostgresServer } from "../support/postgres.ts";
import { cpuUsOf } from "./cpuTime.ts";
import { heading, median, tabulate } from "./detect/statistics.ts";

// Measures how fast recorded movements become counted deposits, and how long a batch of settlements takes beside its
// chain, without history and with much of it. The chain is in memory and in this process; its own time is measured and
// printed beside ours.

const MOVEMENTS = 100_000;
const RUNS = 5;
/** They compile the code and prepare the statements. */
const WARM_UP_RUNS = 1;
const INTENTS = 500;
const DEPOSITS = 5_000;
const SETTLEMENTS = 100;
const BLOCKS = 3_000;
const HISTORY_BLOCKS = { first: 1, last: BLOCKS - 100 };
const DOLLAR = 1_000_000n;
const WALLET = `0x${"d1".repeat(20)}`;
const TRANSFERS_A_BLOCK = 200;
const US_PER_S = 1_000_000;
const DEPOSITS_GOAL = 5_000;
const BATCH_MS_GOAL = 50;

const USAGE = `Usage: npm run bench -- throughput [--movements=${MOVEMENTS}] [--runs=${RUNS}]

  --movements  recorded movements before the measured ones, on one of the two sides
  --runs       runs of each side, in turns; the output shows medians`;

type Side = { name: string; db: Db; road: ScriptedRoad; chainMs: () => number; counting: Counting[]; batches: Batch[] };
type Counting = { perSecond: number; perCoreSecond: number; ourMs: number; databaseMs: number };
type Batch = { planMs: number; planChainMs: number; observeMs: number };

export async function benchThroughput(): Promise<void> {
  const { values } = parseArgs({
    args: process.argv.slice(3),
    options: {
      movements: { type: "string", default: String(MOVEMENTS) },
      runs: { type: "string", default: String(RUNS) },
      help: { type: "boolean" },
    },
  });
  if (values.help) return console.log(USAGE);
  console.log(heading({ PostgreSQL: (await postgresVersion()).replace(/\D*/, "") }));
  const server = await startOwnServer({ isDurable: true });
  try {
    const sides = [await openSide(server, "no history", 0)];
    sides.push(await openSide(server, `${values.movements} movements`, Number(values.movements)));
    const runs = Number(values.runs);
    await takeTurns(sides, runs, async (side) => void side.batches.push(await measureBatch(side)));
    // Last, because the counted deposits stay unsettled.
    await takeTurns(sides, runs, async (side) => void side.counting.push(await measureCounting(server, side)));
    for (const side of sides) {
      side.batches.splice(0, WARM_UP_RUNS);
      side.counting.splice(0, WARM_UP_RUNS);
    }
    print(sides);
    for (const { db } of sides) await db.close();
  } finally {
    await server.remove();
  }
}

async function takeTurns(sides: readonly Side[], runs: number, measure: (side: Side) => Promise<void>): Promise<void> {
  for (let run = 0; run < WARM_UP_RUNS + runs; run += 1) for (const side of sides) await measure(side);
}

async function openSide(server: PostgresServer, name: string, movements: number): Promise<Side> {
  const url = await createDatabaseOn(server, `movements_${movements}`);
  const db = await openDatabase({ url });
  const chain = { agreement: undefined, finality: [{ upToPriceUnits: undefined, finality: { confirmations: 1 } }] };
  const road = openScriptedRoad(db, { blocks: BLOCKS, chain });
  const chainMs = measureNodes(road);
  await road.tick();
  const account = await openMerchant(road, WALLET);
  const [pattern, busy] = [await createIntentOf(road, account), await createIntentOf(road, account)];
  for (const { inbox_address } of [pattern, busy]) road.pay(inbox_address, DOLLAR);
  await road.advance(6);
  // The deposit, and two legs of its settlement. Payments come in fours.
  const payments = Math.ceil(movements / 12) * 4;
  const history = { patternIntentId: pattern.id, busyIntentId: busy.id, payments, intents: payments };
  if (payments > 0) await fillHistory(url, { ...history, blocks: HISTORY_BLOCKS });
  await road.advance(1);
  return { name, db, road, chainMs, counting: [], batches: [] };
}

type Account = Awaited<ReturnType<typeof openMerchant>>;

async function createIntentOf({ world }: ScriptedRoad, account: Account) {
  return (await createIntent(world.db.root, world, { account, input: {} })).intent;
}

/** Adds up the time of all calls of the chain's nodes. Returns the sum in milliseconds. */
function measureNodes(road: ScriptedRoad): () => number {
  let sumMs = 0;
  for (const node of road.nodes) {
    for (const method of methodsOf(node)) {
      const original = Reflect.get(node, method) as (...args: unknown[]) => unknown;
      Reflect.set(node, method, async (...args: unknown[]) => {
        const startedAt = performance.now();
        const answer = await original.apply(node, args);
        sumMs += performance.now() - startedAt;
        return answer;
      });
    }
  }
  return () => sumMs;
}

/** The methods that a settlement's batch calls. */
function methodsOf(node: object): string[] {
  return ["call", "estimateGas", "fees", "nonce", "submit", "receipt", "head", "hasCode", "nativeBalance"].filter(
    (name) => typeof Reflect.get(node, name) === "function",
  );
}

/** Counts deposits that the watch station has recorded: no chain is involved. */
async function measureCounting(server: PostgresServer, { road, db }: Side): Promise<Counting> {
  const { world, chain } = road;
  const intents = await createIntents(road, INTENTS);
  for (let sent = 0; sent < DEPOSITS; sent += TRANSFERS_A_BLOCK) {
    for (let one = sent; one < sent + TRANSFERS_A_BLOCK; one += 1)
      road.pay(intents[one % INTENTS]?.inbox_address ?? "", DOLLAR);
    road.scripted.mine();
  }
  while ((await watchChain(world, chain)).isBehind);
  await sql`checkpoint`.execute(db.root);
  const [startedAt, ourUs, databaseUs] = [performance.now(), ownUs(), cpuUsOf(server.processId)];
  while (!(await processMovements(world, chain.caip2)).isDone);
  await countMoney(world, chain.caip2);
  const ms = performance.now() - startedAt;
  const [oursUs, theirsUs] = [ownUs() - ourUs, cpuUsOf(server.processId) - databaseUs];
  const counted = await db.root
    .selectFrom("intent")
    .select(sql<bigint>`sum(counted_units)`.as("units"))
    .where(
      "id",
      "in",
      intents.map(({ id }) => id),
    )
    .executeTakeFirstOrThrow();
  if (counted.units !== BigInt(DEPOSITS) * DOLLAR) throw new Error(`${counted.units} units were counted`);
  return {
    perSecond: (DEPOSITS * 1_000) / ms,
    perCoreSecond: (DEPOSITS * US_PER_S) / (oursUs + theirsUs),
    ourMs: oursUs / 1_000,
    databaseMs: theirsUs / 1_000,
  };
}

/** Plans and stores one batch of settlements, and observes their landing. */
async function measureBatch({ road, chainMs }: Side): Promise<Batch> {
  const { world, chain, scripted } = road;
  for (const { inbox_address } of await createIntents(road, SETTLEMENTS)) road.pay(inbox_address, DOLLAR);
  scripted.mine();
  await watchChain(world, chain);
  while (!(await processMovements(world, chain.caip2)).isDone);
  await countMoney(world, chain.caip2);
  const [planAt, nodesMs] = [performance.now(), chainMs()];
  const planned = await planSettlements(world, chain.caip2);
  const submitted = await submitSettlements(world, { chain });
  const [planMs, planChainMs] = [performance.now() - planAt, chainMs() - nodesMs];
  if (planned !== SETTLEMENTS || submitted !== SETTLEMENTS)
    throw new Error(`${planned} planned, ${submitted} submitted`);
  await chain.sender.process(world);
  scripted.mine();
  await watchChain(world, chain);
  while (!(await processMovements(world, chain.caip2)).isDone);
  const observeAt = performance.now();
  while (!(await observeSettlements(world, chain.caip2)).isDone);
  const observeMs = performance.now() - observeAt;
  await road.advance(4);
  return { planMs, planChainMs, observeMs };
}

async function createIntents(road: ScriptedRoad, count: number) {
  const account = await openMerchant(road, WALLET);
  const intents = [];
  for (let created = 0; created < count; created += 1) intents.push(await createIntentOf(road, account));
  return intents;
}

function ownUs(): number {
  const { user, system } = process.cpuUsage();
  return user + system;
}

function print(sides: readonly Side[]): void {
  const figures: [string, number, (side: Side) => number[]][] = [
    ["deposits counted a second", 0, ({ counting }) => counting.map((run) => run.perSecond)],
    [
      "deposits counted a second of processor time, service and database",
      0,
      ({ counting }) => counting.map((run) => run.perCoreSecond),
    ],
    [`processor time for ${DEPOSITS} deposits: service, ms`, 0, ({ counting }) => counting.map((run) => run.ourMs)],
    ["the same: database, ms", 0, ({ counting }) => counting.map((run) => run.databaseMs)],
    [`${SETTLEMENTS} settlements planned and stored, ms`, 1, ({ batches }) => batches.map((run) => run.planMs)],
    ["of it in the chain's node, ms", 1, ({ batches }) => batches.map((run) => run.planChainMs)],
    ["the rest, ms", 1, ({ batches }) => batches.map((run) => run.planMs - run.planChainMs)],
    [`${SETTLEMENTS} settlements observed, ms`, 1, ({ batches }) => batches.map((run) => run.observeMs)],
  ];
  console.log(
    `medians of ${sides[0]?.batches.length} runs in turns; goals: ${DEPOSITS_GOAL} deposits a second and core, ${BATCH_MS_GOAL} ms a batch beside the chain`,
  );
  const rows = figures.map(([name, digits, read]) => {
    const [none = Number.NaN, much = Number.NaN] = sides.map((side) => median(read(side)));
    return [name, none.toFixed(digits), much.toFixed(digits), (much / none).toFixed(2)];
  });
  console.log(tabulate([["", ...sides.map(({ name }) => name), "ratio"], ...rows]));
}
