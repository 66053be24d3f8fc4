import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { sql } from "kysely";
import { createIntent } from "../../src/intent/createIntent.ts";
import type { IntentRow } from "../../src/intent/store.ts";
import { tokenCalls } from "../sim/chain/token.ts";
import { startOwnServer } from "../support/database.ts";
import type { PostgresServer } from "../support/postgres.ts";
import { openCostWorld, openMerchant, type CostWorld } from "./costWorld.ts";
import { isExempt } from "./exemptStatements.ts";
import { shortenText } from "./measureCourses.ts";
import type { ScriptedRoad } from "./scriptedRoad.ts";

// Anybody can send any number of one-unit transfers to an inbox. They must not slow down the payment of another
// merchant.

const BLOCKS = 8;
const TRANSFERS_A_BLOCK = 400;
/** From this block on, each round also reads a block of dust that has become final. */
const STEADY_BLOCK = 3;
/**
 * How many more rows a statement may read than without dust: less than a block of dust, more than statements that run
 * now and then.
 */
const ROWS_MORE_MAX = 300;
/** Enough that the planner's statistics are not those of empty tables. */
const HISTORY = { payments: 400, intents: 3_000 };
const DUSTY_WALLET = `0x${"d2".repeat(20)}`;
const BLOCK_MS = 2_000;
/** Enough for a payment to land and become final. */
const ROUNDS = 8;
const DOLLAR = 1_000_000n;

type Reads = ReadonlyMap<string, number>;
type Comparison = { text: string; rows: number; usualRows: number };

let server: PostgresServer;
before(async () => {
  server = await startOwnServer();
});
after(() => server.remove());

describe("a payment costs the same rows", () => {
  let quiet: Reads;
  before(async () => {
    quiet = await readsOfPayment("quiet", async () => undefined);
  });

  test("while another merchant's inbox holds dust below its minimum", async () => {
    const dusty = await readsOfPayment("waiting", async (road) => receiveDust(road, await createDustyIntent(road)));
    assertNoMore(dusty, quiet);
  });

  test("while another merchant's inbox holds counted dust and cannot be settled", async () => {
    const dusty = await readsOfPayment("blocked", async (road) => {
      const intent = await createDustyIntent(road);
      road.callAsOwner(tokenCalls.block(DUSTY_WALLET));
      road.pay(intent.inbox_address, DOLLAR);
      await receiveDust(road, intent);
    });
    assertNoMore(dusty, quiet);
  });
});

test("a block of dust costs the same rows, however much dust its inbox holds", async () => {
  const world = await openCostWorld(server, { name: "blocks", ...HISTORY });
  const intent = await createDustyIntent(world.road);
  const reads: Reads[] = [];
  for (let block = 0; block < BLOCKS; block += 1) {
    await receiveDust(world.road, intent, 1);
    reads.push(await takeReads(world));
  }
  await world.close();
  const [usual, last] = [reads[STEADY_BLOCK], reads.at(-1)];
  assert(usual && last);
  assertNoMore(last, usual);
});

async function createDustyIntent(road: ScriptedRoad): Promise<IntentRow> {
  const account = await openMerchant(road, DUSTY_WALLET);
  return (await createIntent(road.world.db.root, road.world, { account, input: {} })).intent;
}

async function receiveDust(road: ScriptedRoad, intent: IntentRow, blocks = BLOCKS): Promise<void> {
  for (let block = 0; block < blocks; block += 1) {
    road.mineDust(intent.inbox_address, TRANSFERS_A_BLOCK);
    road.passTime(BLOCK_MS);
    await road.tick();
  }
}

/** The rows that each statement reads from a payment's creation until it has landed. */
async function readsOfPayment(name: string, prepare: (road: ScriptedRoad) => Promise<void>): Promise<Reads> {
  const world = await openCostWorld(server, {
    name,
    ...HISTORY,
    prepare: async (road) => {
      await prepare(road);
      // The second read of the dust's own blocks does not count.
      await road.advance(ROUNDS);
      await sql`analyze`.execute(road.world.db.root);
    },
  });
  const { intentId, inboxAddress } = await world.post("/api/v1/intents", {});
  await world.post(`/api/v1/intents/${intentId}/view`, {});
  world.road.pay(inboxAddress.toLowerCase(), 5n * DOLLAR);
  await world.road.advance(ROUNDS);
  for (const path of ["", "/deposits", "/settlements"]) await world.get(`/api/v1/intents/${intentId}${path}`);
  const { status } = (await world.get(`/api/v1/intents/${intentId}/settlements`)).data[0];
  assert.equal(status, "landed");
  const reads = await takeReads(world);
  await world.close();
  return reads;
}

async function takeReads(world: CostWorld): Promise<Reads> {
  const reads = new Map<string, number>();
  for (const { text, cost } of await world.log.take()) {
    const key = shortenText(text);
    reads.set(key, (reads.get(key) ?? 0) + cost.readRows);
  }
  return reads;
}

function assertNoMore(reads: Reads, usual: Reads): void {
  const more = [...reads]
    .map(([text, rows]) => ({ text, rows, usualRows: usual.get(text) ?? 0 }))
    .filter(({ rows, usualRows }) => rows > usualRows + ROWS_MORE_MAX)
    .toSorted((one, other) => other.rows - one.rows);
  const unknown = more.filter((one) => !isExempt(one));
  assert(unknown.length === 0, `these statements read dust:\n${unknown.map(formatComparison).join("\n")}`);
}

function formatComparison({ text, rows, usualRows }: Comparison): string {
  return `${rows} rows instead of ${usualRows}: ${text.slice(0, 200)}`;
}
