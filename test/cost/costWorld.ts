import assert from "node:assert/strict";
import type { FastifyInstance } from "fastify";
import { sql } from "kysely";
import { openDatabase } from "../../src/db/database.ts";
import { buildServer } from "../../src/http/server.ts";
import { createIntent, type CreateIntentInput } from "../../src/intent/createIntent.ts";
import type { IntentRow } from "../../src/intent/store.ts";
import { createAccount } from "../../src/merchant/createAccount.ts";
import { createKey } from "../../src/merchant/keys/createKey.ts";
import type { AccountRow } from "../../src/merchant/store.ts";
import { CREATE_INTENTS } from "../../src/merchant/keys/scopes.ts";
import { API_VERSIONS } from "../../src/http/checks/checkVersion.ts";
import { createDatabaseOn } from "../support/database.ts";
import type { PostgresServer } from "../support/postgres.ts";
import { TEST_CHAIN_CONFIG } from "../support/stationWorld.ts";
import { fillHistory, type Statistics } from "./fillHistory.ts";
import { recordStatements, type StatementLog } from "./recordStatements.ts";
import { openScriptedRoad, type ScriptedRoad } from "./scriptedRoad.ts";

// A world with history whose statements are recorded.

/** The pattern's payment is above the limit for one provider, so that its rows include a verification. */
const PATTERN_UNITS = 150_000_000n;
const CHAIN_BLOCKS = 3_000;
/** The service has watched from the chain's head on, and knows some headers below it. */
const HISTORY_BLOCKS = { first: 1, last: CHAIN_BLOCKS - 100 };
const PATTERN_ROUNDS = 8;
const ROUND_MS = 60_000;
const ROUNDS_MAX = 40;

export type CostWorld = {
  road: ScriptedRoad;
  log: StatementLog;
  /** An intent with half of the history. */
  busy: IntentRow;
  create: (input?: CreateIntentInput) => Promise<IntentRow>;
  /** Pays into the next block. */
  pay: (intent: IntentRow, units: bigint) => string;
  /** Mines blocks with a round of the loops after each, until every settlement has landed. */
  settle: () => Promise<void>;
  /** Sends an authorized request. Throws on a status above 299. */
  get: (path: string, headers?: Headers) => Promise<Json>;
  post: (path: string, body?: object, headers?: Headers) => Promise<Json>;
  close: () => Promise<void>;
};

export type CostWorldOptions = {
  /** The name of the new database. */
  name: string;
  payments: number;
  intents: number;
  dust?: number;
  statistics?: Statistics;
  plans?: "auto" | "generic";
  /** Runs after the history and before the recording. */
  prepare?: (road: ScriptedRoad) => Promise<void>;
};

/** Opens a world after `payments` settled payments, a multiple of four. */
export async function openCostWorld(
  server: PostgresServer,
  { name, payments, intents, prepare, plans, ...history }: CostWorldOptions,
): Promise<CostWorld> {
  const url = await createDatabaseOn(server, name);
  const first = await openDatabase({ url, allowUnsafeFsync: true });
  const road = openScriptedRoad(first, { blocks: CHAIN_BLOCKS });
  const { world } = road;
  await road.tick();
  const account = await openMerchant(road, WALLET);
  const { apiKey } = await createKey(world, { accountId: account.id, scopes: [CREATE_INTENTS] });
  const create = async (input: CreateIntentInput = {}) =>
    (await createIntent(world.db.root, world, { account, input })).intent;
  const [pattern, busy] = [await create(), await create()];
  let api = await buildServer(world);
  const authorization = `Bearer ${apiKey}`;
  const get = (path: string, headers: Headers = {}) =>
    send(api, { method: "GET", path, body: undefined, headers: { authorization, ...headers } });
  const post = (path: string, body?: object, headers: Headers = {}) =>
    send(api, { method: "POST", path, body, headers: { authorization, ...headers } });
  // Each kind of row that a payment can leave exists once before it is copied.
  await post("/api/v1/intents", {}, { "idempotency-key": "pattern" });
  await post(`/api/v1/intents/${pattern.id}/source-inbox`, { chainId: TEST_CHAIN_CONFIG.chainId });
  await post(`/api/v1/intents/${pattern.id}/view`, {});
  for (const intent of [pattern, busy]) road.pay(intent.inbox_address, PATTERN_UNITS);
  await road.advance(PATTERN_ROUNDS);
  await fillHistory(url, {
    patternIntentId: pattern.id,
    busyIntentId: busy.id,
    payments,
    intents,
    blocks: HISTORY_BLOCKS,
    ...history,
  });
  // Any transfer loads the copied inboxes into memory, as a start does.
  road.pay(WALLET, 1n);
  await road.advance(1);
  await prepare?.(road);
  const log = await recordStatements(server, name, plans);
  // Only sessions that begin now are recorded.
  const db = await openDatabase({ url, allowUnsafeFsync: true });
  await api.close();
  await first.close();
  Object.assign(world, { db });
  api = await buildServer(world);
  return {
    road,
    log,
    busy,
    create,
    pay: (intent, units) => road.pay(intent.inbox_address, units),
    settle: async () => {
      for (let round = 0; round < ROUNDS_MAX; round += 1) {
        // Refused and ineffective settlements are retried after a while.
        road.passTime(ROUND_MS);
        await road.advance(1);
        const waiting = await db.root
          .selectFrom("settlement")
          .select("id")
          .where(sql<boolean>`status in ('planned','submitted','held')`)
          .limit(1)
          .execute();
        if (round > 2 && waiting.length === 0) return;
      }
      assert.fail("a settlement does not land");
    },
    get,
    post,
    close: async () => {
      await api.close();
      await db.close();
    },
  };
}

/** Creates an account whose payouts go to the wallet. */
export async function openMerchant({ world }: ScriptedRoad, wallet: string): Promise<AccountRow> {
  const chainReference = String(TEST_CHAIN_CONFIG.chainId);
  const payout = { namespace: "eip155", chainReference, wallet, currency: "USDC" } as const;
  return createAccount(world, { name: "Merchant", feeBps: 50, payout });
}

const WALLET = `0x${"d1".repeat(20)}`;

/** Responses stay untyped: a wrong shape fails where it is read. */
type Json = ReturnType<JSON["parse"]>;
type Headers = Record<string, string>;
type Sent = { method: "GET" | "POST"; path: string; body: object | undefined; headers: Headers };

async function send(server: FastifyInstance, { method, path, body, headers }: Sent): Promise<Json> {
  const type = body === undefined ? {} : { "content-type": "application/json" };
  const answered = await server.inject({
    method,
    url: path,
    headers: { "service-version": API_VERSIONS[0], ...type, ...headers },
    ...(body === undefined ? {} : { payload: JSON.stringify(body) }),
  });
  assert(answered.statusCode < 300, `${method} ${path}: ${answered.statusCode} ${answered.body}`);
  const isJson = String(answered.headers["content-type"]).startsWith("application/json");
  return { ...(isJson ? answered.json() : {}), cookie: answered.headers["set-cookie"] };
}
