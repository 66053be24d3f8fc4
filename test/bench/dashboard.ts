import { loadavg } from "node:os";
import { parseArgs } from "node:util";
import type { FastifyInstance } from "fastify";
import type { Browser } from "playwright-core";
import { openDatabase } from "../../src/db/database.ts";
import { openSession } from "../../src/dashboard/session.ts";
import { API_VERSIONS } from "../../src/http/checks/checkVersion.ts";
import { buildServer } from "../../src/http/server.ts";
import { createIntent } from "../../src/intent/createIntent.ts";
import { createKey } from "../../src/merchant/keys/createKey.ts";
import { CREATE_INTENTS, READ_DASHBOARD } from "../../src/merchant/keys/scopes.ts";
import { openMerchant } from "../cost/costWorld.ts";
import { fillHistory } from "../cost/fillHistory.ts";
import { openScriptedRoad, type ScriptedRoad } from "../cost/scriptedRoad.ts";
import { openBrowser } from "../support/browser.ts";
import { createDatabaseOn, startOwnServer } from "../support/database.ts";
import { postgresVersion } from "../support/postgres.ts";
import { heading, median, percentile, tabulate } from "./detect/statistics.ts";
import { sized } from "./sized.ts";

// Measures the dashboard at many payments of one account: its list, searches and filters beside the API's own list, in
// turns, and the first view of its list in a slow network.

const PAYMENTS = sized(1_000_000, 2_000);
const ROUNDS = sized(60, 6);
const RATIO_GOAL = 1.5;
const FIRST_VIEW_GOAL_MS = 1_000;
const CHAIN_BLOCKS = 3_000;
/** A round trip of 150 ms and 1.6 megabits a second, at a quarter of this machine's processor. */
const SLOW_4G = { latencyMs: 150, bytesPerS: (1.6 * 1_024 * 1_024) / 8, slowdown: 4 };
const WALLET = `0x${"d1".repeat(20)}`;

const USAGE = `Usage: npm run bench -- dashboard [--payments=${PAYMENTS}]

  --payments   payments of the account; a tenth of them has deposits and settlements`;

export async function benchDashboard(): Promise<void> {
  const { values } = parseArgs({
    args: process.argv.slice(3).filter((argument) => argument !== "--small"),
    options: { payments: { type: "string", default: String(PAYMENTS) }, help: { type: "boolean" } },
  });
  if (values.help) return console.log(USAGE);
  console.log(heading({ PostgreSQL: (await postgresVersion()).replace(/\D*/, "") }));
  const server = await startOwnServer({ isDurable: true });
  try {
    const world = await openWorld(await createDatabaseOn(server, "dashboard"), Number(values.payments));
    await compare(world, Number(values.payments));
    await benchFirstView(world);
    await world.close();
  } finally {
    await server.remove();
  }
  console.log(`load ${loadavg()[0]?.toFixed(1)}`);
}

type DashboardWorld = {
  road: ScriptedRoad;
  api: FastifyInstance;
  apiKey: string;
  cookie: string;
  searched: { sender: string; chainTx: string; intentId: string };
  close: () => Promise<void>;
};

async function openWorld(url: string, payments: number): Promise<DashboardWorld> {
  const db = await openDatabase({ url, allowUnsafeFsync: true });
  const road = openScriptedRoad(db, { blocks: CHAIN_BLOCKS });
  const { world } = road;
  await road.tick();
  const account = await openMerchant(road, WALLET);
  const { apiKey } = await createKey(world, { accountId: account.id, scopes: [CREATE_INTENTS, READ_DASHBOARD] });
  const create = async () =>
    (await createIntent(world.db.root, world, { account, input: { merchantReference: "order" } })).intent;
  const [pattern, busy] = [await create(), await create()];
  for (const intent of [pattern, busy]) road.pay(intent.inbox_address, 150_000_000n);
  await road.advance(8);
  const startedMs = performance.now();
  const paid = Math.ceil(payments / 10 / 4) * 4;
  const blocks = { first: 1, last: CHAIN_BLOCKS - 100 };
  await fillHistory(url, {
    patternIntentId: pattern.id,
    busyIntentId: busy.id,
    payments: paid,
    intents: payments,
    blocks,
  });
  console.log(`${payments} payments filled in ${Math.round((performance.now() - startedMs) / 1_000)} s`);
  const deposit = await db.root
    .selectFrom("deposit")
    .selectAll()
    .where("intent_id", "=", pattern.id)
    .executeTakeFirstOrThrow();
  const api = await buildServer(world);
  return {
    road,
    api,
    apiKey,
    cookie: `tributary_dashboard=${await openSession(world, apiKey)}`,
    searched: { sender: deposit.sender, chainTx: deposit.chain_tx, intentId: pattern.id },
    close: async () => {
      await api.close();
      await db.close();
    },
  };
}

async function compare(world: DashboardWorld, payments: number): Promise<void> {
  const { searched, road } = world;
  const day = road.world.clock.now().toISOString().slice(0, 10);
  const api = { name: "the API's list", url: "/api/v1/intents?limit=25", times: [] as number[] };
  const pages = [
    ["list", ""],
    ["an old page by status and time", `?status=active&createdBefore=${day}`],
    ["filter by status", "?status=settled"],
    ["filter by payment status", "?paymentStatus=unpaid"],
    ["filter by reference", "?merchantReference=none"],
    ["filter by price, none matches", "?priceMin=9999999"],
    ["search by payer", `/search?q=${searched.sender}`],
    ["search by transaction", `/search?q=${searched.chainTx}`],
    ["search by id", `/search?q=${searched.intentId}`],
    ["search for nothing", "/search?q=nothing"],
    ["settlements by day", "/settlements"],
  ].map(([name = "", path = ""]) => ({ name, url: `/dashboard${path}`, times: [] as number[] }));
  for (let round = -2; round < ROUNDS; round += 1) {
    // The limits of a minute are not what is measured.
    road.passTime(61_000);
    for (const each of [api, ...pages]) {
      const ms = await ask(world, each.url);
      if (round >= 0) each.times.push(ms);
    }
  }
  const line = ({ name, times }: typeof api) => [
    name,
    median(times).toFixed(1),
    percentile(times, 0.9).toFixed(1),
    (median(times) / median(api.times)).toFixed(2),
  ];
  console.log(
    `${payments} payments of one account, ${ROUNDS} of each in turns; goal: a ratio of at most ${RATIO_GOAL}`,
  );
  console.log(tabulate([["page", "ms p50", "p90", "ratio"], ...[api, ...pages].map(line)]));
}

async function ask({ api, apiKey, cookie }: DashboardWorld, url: string): Promise<number> {
  const headers = url.startsWith("/api/")
    ? { authorization: `Bearer ${apiKey}`, "service-version": API_VERSIONS[0] }
    : { cookie };
  const startedMs = performance.now();
  const { statusCode, body } = await api.inject({ url, headers });
  const ms = performance.now() - startedMs;
  if (statusCode !== 200 && statusCode !== 303) throw new Error(`${url}: ${statusCode} ${body.slice(0, 200)}`);
  return ms;
}

async function benchFirstView({ api, cookie }: DashboardWorld): Promise<void> {
  const browser = await openBrowser();
  try {
    const origin = await api.listen({ host: "127.0.0.1", port: 0 });
    const views: number[] = [];
    for (let run = 0; run < sized(5, 1); run += 1) views.push(await measureView(browser, origin, cookie));
    console.log(
      `first view of the list at slow 4G, 4 x slower: ${Math.round(median(views))} ms, fastest ${Math.round(Math.min(...views))} ms (goal ${FIRST_VIEW_GOAL_MS} ms)`,
    );
  } finally {
    await browser.close();
  }
}

/** Until the largest paint, with an empty cache. */
async function measureView(browser: Browser, origin: string, cookie: string): Promise<number> {
  const context = await browser.newContext({ viewport: { width: 390, height: 844 } });
  try {
    const [name = "", value = ""] = cookie.split("=");
    await context.addCookies([{ name, value, url: `${origin}/dashboard` }]);
    const page = await context.newPage();
    const session = await context.newCDPSession(page);
    await session.send("Network.enable");
    await session.send("Network.emulateNetworkConditions", {
      offline: false,
      latency: SLOW_4G.latencyMs,
      downloadThroughput: SLOW_4G.bytesPerS,
      uploadThroughput: SLOW_4G.bytesPerS,
    });
    await session.send("Emulation.setCPUThrottlingRate", { rate: SLOW_4G.slowdown });
    await page.goto(`${origin}/dashboard`);
    await page.locator("tbody tr").first().waitFor();
    return await page.evaluate(
      () =>
        new Promise<number>((resolve) => {
          new PerformanceObserver((list) => resolve(list.getEntries().at(-1)?.startTime ?? 0)).observe({
            type: "largest-contentful-paint",
            buffered: true,
          });
        }),
    );
  } finally {
    await context.close();
  }
}
