import { randomBytes } from "node:crypto";
import { crc32 } from "node:zlib";
import { newId } from "../../src/kernel/ids.ts";
import { systemEntropy } from "../../src/kernel/entropy.ts";
import { newApiKey } from "../../src/merchant/keys/apiKey.ts";
import { openTestApi, VERSION, type Merchant, type TestApi } from "../support/api.ts";
import { openTestDatabase } from "../support/database.ts";
import { summaryOf, welchP, mannWhitneyP } from "./timing/statistics.ts";
import { sized } from "./sized.ts";

// Tests for timing side channels. Two kinds of requests alternate in an order chosen at random for each pair, in one
// run against one PostgreSQL. A small p means that the two kinds differ in time; the difference of the medians, against
// network noise, shows whether that is exploitable. The third comparison uses one kind twice, as a control.

const BATCHES = sized(750, 3);
const WARM_UP_BATCHES = sized(10, 1);
/** Few enough that a merchant, with one batch per comparison, stays below the limits. */
const PAIRS_PER_BATCH = 20;
const FOREIGN_INTENTS = sized(2_000, 20);
const US_PER_MS = 1_000;

type TimedRequest = { url: string; authorization: string };
type ComparedRequests = {
  name: string;
  one: (merchant: Merchant) => TimedRequest;
  other: (merchant: Merchant) => TimedRequest;
};
type TimingContext = { api: TestApi; merchants: Merchant[]; foreign: string[] };

export async function benchTiming(): Promise<void> {
  const db = await openTestDatabase("postgres");
  const api = await openTestApi(db);
  try {
    console.log(`${BATCHES * PAIRS_PER_BATCH} pairs each; microseconds from the call to its answer, without a network`);
    const site = { api, merchants: await openMerchants(api), foreign: await insertForeign(api) };
    for (const pair of buildComparisons(site)) await compare(site, pair);
  } finally {
    await api.server.close();
    await db.close();
  }
}

async function openMerchants(api: TestApi): Promise<Merchant[]> {
  const merchants: Merchant[] = [];
  for (let count = 0; count < BATCHES + WARM_UP_BATCHES; count += 1) merchants.push(await api.openMerchant());
  return merchants;
}

async function insertForeign(api: TestApi): Promise<string[]> {
  const stranger = await api.openMerchant();
  const ids: string[] = [];
  for (let count = 0; count < FOREIGN_INTENTS; count += 1) ids.push((await stranger.insertIntent()).id);
  return ids;
}

function buildComparisons({ merchants, foreign }: TimingContext): ComparedRequests[] {
  const url = "/api/v1/intents";
  const withKey = (apiKey: string) => ({ url, authorization: `Bearer ${apiKey}` });
  const readIntent = ({ apiKey }: Merchant, id: string) => ({ url: `${url}/${id}`, authorization: `Bearer ${apiKey}` });
  const neverCreated = (merchant: Merchant) => readIntent(merchant, newId("pi", systemEntropy));
  return [
    {
      name: "unknown key id / wrong secret",
      one: () => withKey(withOtherSecret(newApiKey("test", systemEntropy).keyId)),
      other: () => withKey(withOtherSecret(pickRandom(merchants).keyId)),
    },
    {
      name: "never created / another merchant's",
      one: neverCreated,
      other: (merchant) => readIntent(merchant, pickRandom(foreign)),
    },
    { name: "never created / never created", one: neverCreated, other: neverCreated },
  ];
}

function pickRandom<T>(items: readonly T[]): T {
  const item = items[randomBytes(4).readUInt32LE() % items.length];
  if (item === undefined) throw new Error("nothing to pick from");
  return item;
}

/** A key with valid form and checksum, the given key id and a wrong secret. */
function withOtherSecret(keyId: string): string {
  const unchecked = `trib_test_${keyId}_${randomBytes(28).toString("hex")}`;
  return unchecked + crc32(unchecked).toString(16).padStart(8, "0");
}

async function compare({ api, merchants }: TimingContext, { name, one, other }: ComparedRequests): Promise<void> {
  const times = { one: [] as number[], other: [] as number[] };
  for (let block = -WARM_UP_BATCHES; block < BATCHES; block += 1) {
    const merchant = merchants[block + WARM_UP_BATCHES] ?? pickRandom(merchants);
    // Prepares the requests first, so that their cost and garbage do not count.
    const pairs = Array.from({ length: PAIRS_PER_BATCH }, () => ({ one: one(merchant), other: other(merchant) }));
    const order = [...randomBytes(PAIRS_PER_BATCH)].map((byte) => byte % 2 === 0);
    // Clears the rate limits; the two warm-up requests refill caches that the clock change expired.
    api.advanceTime(60_000);
    await timeUs(api, one(merchant));
    await timeUs(api, other(merchant));
    for (const [index, pair] of pairs.entries()) {
      const isOneFirst = order[index] === true;
      const first = await timeUs(api, isOneFirst ? pair.one : pair.other);
      const second = await timeUs(api, isOneFirst ? pair.other : pair.one);
      if (block < 0) continue;
      times.one.push(isOneFirst ? first : second);
      times.other.push(isOneFirst ? second : first);
    }
  }
  const [a, b] = [summaryOf(times.one), summaryOf(times.other)];
  const show = ({ median, mean }: typeof a) => `median ${median.toFixed(1)}, mean ${mean.toFixed(1)}`;
  console.log(`${name}: ${show(a)} / ${show(b)}`);
  const [rank, mean] = [mannWhitneyP(times.one, times.other), welchP(times.one, times.other)];
  console.log(`  Mann-Whitney p = ${rank.toPrecision(3)}, Welch p = ${mean.toPrecision(3)}`);
}

async function timeUs(api: TestApi, { url, authorization }: TimedRequest): Promise<number> {
  const headers = { authorization, "service-version": VERSION };
  const startedMs = performance.now();
  const { statusCode } = await api.server.inject({ url, headers });
  const tookMs = performance.now() - startedMs;
  if (statusCode !== 401 && statusCode !== 404) throw new Error(`the answer was ${statusCode}`);
  return tookMs * US_PER_MS;
}
