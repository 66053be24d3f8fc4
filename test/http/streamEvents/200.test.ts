import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import { assignEventSequences } from "../../../src/event/assignEventSequences.ts";
import { revokeKey } from "../../../src/merchant/keys/revokeKey.ts";
import { READ_EVENTS } from "../../../src/merchant/keys/scopes.ts";
import { listenTestApi, testApi, type Json, type Merchant, type TestApi } from "../../support/api.ts";
import { appendAccountEvents } from "../../support/events.ts";
import { openEventStream } from "../../support/eventStream.ts";

const URL = "/api/v1/events/stream";
const HEARTBEAT_MS = 15_000;

async function sequence({ world }: TestApi): Promise<void> {
  while (!(await assignEventSequences(world)).isDone);
  world.wake.notify("event streams");
}

async function open(merchant: Merchant, path = URL, headers: Record<string, string> = {}) {
  const port = await listenTestApi(await testApi());
  return openEventStream(`http://127.0.0.1:${port}${path}`, {
    ...(merchant.headers as Record<string, string>),
    ...headers,
  });
}

test("D34 a stream shows what happened and then what happens, in the order and the form of the feed", async () => {
  const api = await testApi();
  const merchant = await api.openMerchant();
  await merchant.createIntent();
  await merchant.createIntent();
  await sequence(api);
  const stream = await open(merchant);
  assert.equal(stream.headers.get("content-type"), "text/event-stream; charset=utf-8");
  assert.match(String(stream.headers.get("request-id")), /^req_/);
  const earlier = [await stream.next(), await stream.next()];
  const { intentId } = await merchant.createIntent();
  await merchant.post(`/api/v1/intents/${intentId}/archive`);
  await sequence(api);
  const shown = [...earlier, await stream.next(), await stream.next()];
  const { body } = await merchant.get("/api/v1/events");
  assert.deepEqual(
    shown.map(({ data }) => data),
    body.data,
  );
  assert.deepEqual(
    shown.map(({ id, event }) => [id, event]),
    body.data.map(({ sequence: number, type }: Json) => [String(number), type]),
  );
  stream.close();
});

test("D34 Last-Event-ID continues behind the last event, and counts more than after", async () => {
  const api = await testApi();
  const merchant = await api.openMerchant();
  for (let index = 0; index < 4; index += 1) await merchant.createIntent();
  await sequence(api);
  const first = async (path: string, headers = {}) => {
    const stream = await open(merchant, path, headers);
    const { id } = await stream.next();
    stream.close();
    return id;
  };
  assert.equal(await first(URL), "1");
  assert.equal(await first(`${URL}?after=2`), "3");
  assert.equal(await first(`${URL}?after=1`, { "last-event-id": "3" }), "4");
  assert.equal(await first(`${URL}?after=1`, { "last-event-id": "" }), "2");
});

test("D34 types and an intent select events, and the cursor moves over the others", async () => {
  const api = await testApi();
  const merchant = await api.openMerchant();
  const [one, other] = [await merchant.createIntent(), await merchant.createIntent()];
  await sequence(api);
  const archived = await open(merchant, `${URL}?type=payment_intent.archived`);
  assert.deepEqual(await archived.next(), { id: "2", event: undefined, data: undefined });
  const ofOne = await open(merchant, `${URL}?intentId=${one.intentId}`);
  assert.equal((await ofOne.next()).data.sequence, 1);
  for (const { intentId } of [other, one]) await merchant.post(`/api/v1/intents/${intentId}/archive`);
  await sequence(api);
  assert.deepEqual([(await archived.next()).id, (await archived.next()).id], ["3", "4"]);
  let last = await ofOne.next();
  while (last.data === undefined) last = await ofOne.next();
  assert.equal(last.data.sequence, 4);
  archived.close();
  ofOne.close();
});

test("D34 a stream far behind gets everything, page after page", async () => {
  const api = await testApi();
  const merchant = await api.openMerchant({ scopes: [READ_EVENTS] });
  await appendAccountEvents(api.world, merchant.accountId, 250);
  await sequence(api);
  const stream = await open(merchant);
  for (let expected = 1; expected <= 250; expected += 1) assert.equal((await stream.next()).id, String(expected));
  stream.close();
});

test("D34 a comment comes every 15 seconds, and a key that is revoked ends its streams", async () => {
  const api = await testApi();
  const [merchant, other] = [await api.openMerchant(), await api.openMerchant()];
  const [stream, kept] = [await open(merchant), await open(other)];
  await revokeKey(api.world, merchant.keyId);
  assert.equal(stream.comments(), 0);
  // The key's cached version is older than a second after this, too.
  api.advanceTime(HEARTBEAT_MS);
  await stream.ended;
  api.advanceTime(HEARTBEAT_MS);
  while (kept.comments() < 2) await kept.chunk();
  kept.close();
});

test("D34 an eleventh stream of an account is refused, until one of the ten has closed", async () => {
  const api = await testApi();
  const [merchant, other] = [await api.openMerchant(), await api.openMerchant()];
  const streams = [];
  for (let index = 0; index < 10; index += 1) streams.push(await open(merchant));
  const refused = await merchant.get(URL);
  assert.equal(refused.status, 429, refused.text);
  assert.equal(refused.body.error.code, "rate_limited");
  assert.equal((await other.get(URL)).status, 200, "other accounts have their own");
  streams.pop()?.close();
  let again = await merchant.get(URL);
  for (let polls = 0; polls < 100 && again.status === 429; polls += 1) {
    await delay(50);
    again = await merchant.get(URL);
  }
  assert.equal(again.status, 200);
  for (const stream of streams) stream.close();
});

test("D34 a stream of one account never shows another's events", async () => {
  const api = await testApi();
  const [merchant, other] = [await api.openMerchant(), await api.openMerchant()];
  const stream = await open(other);
  await merchant.createIntent();
  await sequence(api);
  await other.createIntent();
  await sequence(api);
  assert.equal((await stream.next()).data.sequence, 1);
  assert.deepEqual(stream.pending(), []);
  stream.close();
});
