import { sql } from "kysely";
import type { Db } from "../../src/db/database.ts";
import { assignEventSequences } from "../../src/event/assignEventSequences.ts";
import { openTestDatabase } from "../support/database.ts";
import { openRoad, type Road } from "../support/road.ts";
import { tabulate } from "./detect/statistics.ts";
import { sized } from "./sized.ts";

// Measures how many bytes PostgreSQL stores for each intent, deposit, settlement and dust transfer, with indexes. The
// real road writes the rows, on a local chain. A vacuum before each measurement removes the space of updated rows, so
// the figures are lower bounds.

const COUNT = sized(200, 3);
const DUST_BELOW_UNITS = 1_000n;
const HOUR_MS = 3_600_000;
const TEN_MILLION = 10_000_000;
const BYTES_PER_GB = 1e9;
/** Parts smaller than this are the pages of small tables. */
const SHOWN_BYTES_MIN = 100;
/** How many tables and indexes are named of a settled payment. */
const LARGEST = 25;

type Sizes = ReadonlyMap<string, number>;

export async function benchSize(): Promise<void> {
  const db = await openTestDatabase("postgres");
  const road = await openRoad({ db, chain: { settleBatchMax: 1, settleAfterMs: HOUR_MS } });
  for (const asset of road.world.catalog.assets) Object.assign(asset, { minimumUnits: DUST_BELOW_UNITS });
  console.log(`bytes a row with indexes, from ${COUNT} of each, one inbox in each settling transaction`);
  const intents: Awaited<ReturnType<Road["create"]>>[] = [];
  let before = await measureSizes(db);
  const first = await measureParts(db);
  const report = async (name: string) => {
    while (!(await assignEventSequences(road.world)).isDone);
    const after = await measureSizes(db);
    printGrowth(name, before, after);
    before = after;
  };
  for (let index = 0; index < COUNT; index += 1) {
    // Beside the price, each has what merchants usually send.
    const input = { priceUnits: 5_000_000, merchantReference: `order-${index}`, metadata: { cart: `cart-${index}` } };
    intents.push(await road.create(input));
  }
  await report("intent");
  const payAll = async (amountUnits: bigint) => {
    for (const intent of intents) await road.pay(intent, amountUnits);
  };
  const runRounds = async () => {
    for (let round = 0; round < 10; round += 1) await road.tick();
  };
  await payAll(5_000_000n);
  await runRounds();
  await report("deposit");
  for (const chain of [...road.world.config.chains, ...road.world.catalog.chains])
    Object.assign(chain, { settleAfterMs: 0 });
  await road.settle();
  await road.chain.mine(100);
  await runRounds();
  await report("settlement");
  printLargest(first, await measureParts(db));
  await payAll(1n);
  await runRounds();
  await report("dust transfer");
  const { rows } = await sql<{ n: bigint }>`select count(*) as n from event`.execute(db.root);
  const eventBytes = before.get("event") ?? 0;
  console.log(`\nan event: ${Math.round(eventBytes / Number(rows[0]?.n))} bytes, of ${rows[0]?.n}`);
  await road.close();
}

async function measureSizes(db: Db): Promise<Sizes> {
  await sql`vacuum full`.execute(db.root);
  const { rows } = await sql<{ name: string; bytes: bigint }>`
    select relname as name, pg_total_relation_size(oid) as bytes from pg_class
    where relkind = 'r' and relnamespace = 'public'::regnamespace`.execute(db.root);
  return new Map(rows.map(({ name, bytes }) => [name, Number(bytes)]));
}

/** Of each table without its indexes, and of each index. */
async function measureParts(db: Db): Promise<Sizes> {
  const { rows } = await sql<{ name: string; bytes: bigint }>`
    select case relkind when 'r' then relname else (select indrelid::regclass::text from pg_index where indexrelid = oid) || ': ' || relname end as name,
      pg_table_size(oid) as bytes
    from pg_class where relkind in ('r', 'i') and relnamespace = 'public'::regnamespace`.execute(db.root);
  return new Map(rows.map(({ name, bytes }) => [name, Number(bytes)]));
}

function printLargest(before: Sizes, after: Sizes): void {
  const growth = [...after]
    .map(([part, bytes]) => [part, (bytes - (before.get(part) ?? 0)) / COUNT] as const)
    .toSorted(([, one], [, other]) => other - one);
  const total = growth.reduce((sum, [, bytes]) => sum + bytes, 0);
  const lines = growth.slice(0, LARGEST).map(([part, bytes]) => [`  ${part}`, bytes.toFixed(0)]);
  console.log(
    `\n${tabulate([["largest tables, and indexes behind a colon", "bytes"], ...lines, ["a settled payment", total.toFixed(0)]])}`,
  );
}

function printGrowth(name: string, before: Sizes, after: Sizes): void {
  const growth = [...after]
    .map(([table, bytes]) => [table, (bytes - (before.get(table) ?? 0)) / COUNT] as const)
    .filter(([, bytes]) => bytes >= SHOWN_BYTES_MIN)
    .toSorted(([, one], [, other]) => other - one);
  const total = growth.reduce((sum, [, bytes]) => sum + bytes, 0);
  const line = (part: string, bytes: number) => [
    part,
    bytes.toFixed(0),
    ((bytes * TEN_MILLION) / BYTES_PER_GB).toFixed(1),
  ];
  console.log(
    `\n${tabulate([[name, "bytes", "GB for 10⁷"], ...growth.map(([table, bytes]) => line(`  ${table}`, bytes)), line("sum", total)])}`,
  );
}
