import type { AddressInfo } from "node:net";
import assert from "node:assert/strict";
import type { Readable } from "node:stream";
import { text as readText } from "node:stream/consumers";
import { after } from "node:test";
import type { FastifyInstance, LightMyRequestResponse } from "fastify";
import type { Insertable } from "kysely";
import { buildCatalog } from "../../src/catalog/catalog.ts";
import { isEvmChainConfig, type EvmChainConfig, type TokenConfig } from "../../src/config/config.ts";
import type { Db } from "../../src/db/database.ts";
import type { IntentTable } from "../../src/intent/intentTables.ts";
import { buildServer } from "../../src/http/server.ts";
import { addMs, systemClock, type Clock } from "../../src/kernel/clock.ts";
import { createWake } from "../../src/kernel/wake.ts";
import { ProcessMemory } from "../../src/kernel/processMemory.ts";
import { createAccount } from "../../src/merchant/createAccount.ts";
import { createKey } from "../../src/merchant/keys/createKey.ts";
import { DEFAULT_SCOPES } from "../../src/merchant/keys/scopes.ts";
import type { World } from "../../src/world.ts";
import { openTestDatabase } from "./database.ts";
import { assertDocumented } from "./assertDocumented.ts";
import { insertIntent, randomAddress } from "./intents.ts";
import { stationWorld } from "./stationWorld.ts";

// The real server over a real database, without a socket. A test process has one. Each test opens an account of its
// own, so that limits and lists do not mix.

export const VERSION = "2026-11-01";
export const UNKNOWN_ID = `pi_${"0".repeat(26)}`;

export const SETTLE_CHAIN_ID = 31_337;
export const OTHER_CHAIN_ID = 31_338;
/** 6 decimals, on both chains. */
export const USDC = "0x00000000000000000000000000000000000c0de6";
/** 18 decimals, on both chains. */
export const DUSD = "0x00000000000000000000000000000000000c0d18";
/** 2 decimals, a rail and no origin, on the first chain. */
export const TWO_DECIMAL_TOKEN = "0x00000000000000000000000000000000000c0de2";

type Headers = Record<string, string | string[]>;
/** Responses stay untyped: a wrong shape fails the assertion that reads it. */
export type Json = ReturnType<JSON["parse"]>;
export type TestRequest = {
  method?: string;
  headers?: Headers;
  body?: unknown;
  /** The address of the caller; this machine by default. */
  remoteAddress?: string;
};
export type TestResponse = { status: number; headers: LightMyRequestResponse["headers"]; body: Json; text: string };

export type TestApi = {
  world: World;
  server: FastifyInstance;
  /** Advances the service's clock. It stands still otherwise. */
  advanceTime: (durationMs: number) => void;
  /** Sends exactly these headers and this body. Text and bytes stay as they are; any other body becomes JSON. */
  send(url: string, sent?: TestRequest): Promise<TestResponse>;
  openMerchant(options?: MerchantOptions): Promise<Merchant>;
};

export type MerchantOptions = { scopes?: readonly string[]; hasDefaults?: boolean; expiresAt?: Date };

export type Merchant = {
  accountId: string;
  keyId: string;
  apiKey: string;
  /** The account's default payout wallet, in lower case. */
  wallet: string;
  headers: Headers;
  get(url: string, headers?: Headers): Promise<TestResponse>;
  post(url: string, body?: unknown, headers?: Headers): Promise<TestResponse>;
  /** Sends a body by any method. */
  sendBody(method: string, url: string, sent: { body: unknown; headers?: Headers | undefined }): Promise<TestResponse>;
  /** Creates an intent without a destination through the API. */
  createIntent(body?: object): Promise<Json>;
  /** Inserts an intent row of this account directly, for states that need time or deposits. */
  insertIntent(columns?: Partial<Omit<Insertable<IntentTable>, "seq">>): ReturnType<typeof insertIntent>;
};

let shared: Promise<TestApi> | undefined;

/**
 * The API of this process. It closes after the last test. Its database is the embedded one, whose rate limits follow
 * the test's clock.
 */
export function testApi(): Promise<TestApi> {
  return (shared ??= openTestDatabase("pglite").then((db) => openTestApi(db)));
}

/** Listens on a free port, which files of one process share, and returns it. */
export async function listenTestApi({ server }: TestApi): Promise<number> {
  if (!server.server.listening) await server.listen({ host: "127.0.0.1", port: 0 });
  return (server.server.address() as AddressInfo).port;
}

after(async () => {
  const api = await shared;
  await api?.server.close();
  await api?.world.db.close();
});

/** Opens an API over the caller's database. The caller closes both. */
export async function openTestApi(db: Db, change: Partial<World> = {}): Promise<TestApi> {
  const { clock, passTime: advanceTime } = adjustableClock();
  const station = stationWorld(db);
  const [base] = station.config.chains;
  assert(base && isEvmChainConfig(base));
  const config = { ...station.config, chains: testChains(base) };
  const world: World = {
    ...station,
    clock,
    config,
    catalog: buildCatalog(config),
    wake: createWake(clock),
    memory: new ProcessMemory(),
    chains: new Map(),
    ...change,
  };
  const server = await buildServer(world);
  const send = async (url: string, sent: TestRequest = {}) => {
    const answered = await inject(server, url, sent);
    assertDocumented(url, sent, answered);
    return answered;
  };
  return { world, server, advanceTime, send, openMerchant: (options = {}) => openMerchant(world, send, options) };
}

/** A clock that moves only on request, so that no test depends on the speed of the machine. */
function adjustableClock(): { clock: Clock; passTime: (durationMs: number) => void } {
  const startedAt = systemClock.now();
  let passedMs = 0;
  return {
    clock: {
      now: () => addMs(startedAt, passedMs),
      monotonicMs: () => passedMs,
      sleep: (durationMs, signal) => systemClock.sleep(durationMs, signal),
    },
    passTime: (durationMs) => {
      passedMs += durationMs;
    },
  };
}

function testChains(base: EvmChainConfig): EvmChainConfig[] {
  const token = (symbol: string, address: string, decimals: number): TokenConfig => ({
    symbol,
    slug: symbol.toLowerCase(),
    address,
    decimals,
    minimumUnits: 10n ** BigInt(decimals) / 2n,
    isOrigin: symbol !== "COARSE",
    isRail: true,
  });
  const common = [token("USDC", USDC, 6), token("DUSD", DUSD, 18)];
  return [
    { ...base, tokens: [...common, token("COARSE", TWO_DECIMAL_TOKEN, 2)] },
    {
      ...base,
      caip2: `eip155:${OTHER_CHAIN_ID}`,
      chainId: OTHER_CHAIN_ID,
      name: "Other",
      slug: "other",
      tokens: common,
    },
  ];
}

async function inject(
  server: FastifyInstance,
  url: string,
  { method = "GET", headers = {}, body, remoteAddress }: TestRequest,
): Promise<TestResponse> {
  const payload = encodeBody(body);
  const answered = await server.inject({
    method: method as "GET",
    url,
    headers,
    payloadAsStream: true,
    ...(remoteAddress === undefined ? {} : { remoteAddress }),
    ...(payload === undefined ? {} : { payload }),
  });
  const type = String(answered.headers["content-type"]);
  const isStream = type.startsWith("text/event-stream");
  const answer = await (isStream ? readFirstChunk : readText)(answered.stream());
  if (isStream) answered.raw.res.destroy();
  const isJson = answer !== "" && type.startsWith("application/json");
  return {
    status: answered.statusCode,
    headers: answered.headers,
    body: isJson ? JSON.parse(answer) : undefined,
    text: answer,
  };
}

/** A stream has no end: the client leaves with what came first. */
async function readFirstChunk(stream: Readable): Promise<string> {
  for await (const chunk of stream) return String(chunk);
  return "";
}

function encodeBody(body: unknown): string | Buffer | undefined {
  // The server would send bytes other than a Buffer as the JSON of an object.
  if (body instanceof Uint8Array) return Buffer.from(body);
  return body === undefined || typeof body === "string" ? body : JSON.stringify(body);
}

async function openMerchant(world: World, send: TestApi["send"], options: MerchantOptions): Promise<Merchant> {
  const { scopes = DEFAULT_SCOPES, hasDefaults = true, expiresAt } = options;
  const wallet = randomAddress();
  const payout = { namespace: "eip155", chainReference: String(SETTLE_CHAIN_ID), wallet, currency: "USDC" } as const;
  const account = await createAccount(world, { name: "Test", ...(hasDefaults ? { payout } : {}) });
  const key = { accountId: account.id, scopes, ...(expiresAt === undefined ? {} : { expiresAt }) };
  const { keyId, apiKey } = await createKey(world, key);
  const headers = { authorization: `Bearer ${apiKey}`, "service-version": VERSION };
  const sendBody: Merchant["sendBody"] = (method, url, { body, headers: more = {} }) => {
    const type = body === undefined ? {} : { "content-type": "application/json" };
    return send(url, { method, headers: { ...headers, ...type, ...more }, body });
  };
  const post: Merchant["post"] = (url, body, more) => sendBody("POST", url, { body, headers: more });
  return {
    accountId: account.id,
    keyId,
    apiKey,
    wallet,
    headers,
    get: (url, more = {}) =>
      send(url, {
        headers: {
          ...headers,
          ...more,
        },
      }),
    post,
    sendBody,
    async createIntent(body = {}) {
      const answered = await post("/api/v1/intents", body);
      assert.equal(answered.status, 201, answered.text);
      return answered.body;
    },
    insertIntent: (columns = {}) =>
      insertIntent(world.db, {
        account_id: account.id,
        payout_token: USDC,
        ...columns,
      }),
  };
}

/** Asserts the error envelope of every operation and returns its `error`. */
export function assertFault(answered: TestResponse, status: number, code: string): Json {
  assert.equal(answered.status, status, answered.text);
  const { error } = answered.body;
  assert.equal(error.code, code, answered.text);
  assert.equal(typeof error.message, "string");
  assert.match(error.request_id, /^req_[0-9a-hjkmnp-tv-z]{26}$/);
  assert.equal(answered.headers["request-id"], error.request_id);
  assert.equal(error.docs, `http://127.0.0.1:8787/docs/errors/${code}`);
  return error;
}
