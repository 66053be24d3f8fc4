import assert from "node:assert/strict";
import { test } from "node:test";
import { assignEventSequences } from "../../../src/event/assignEventSequences.ts";
import { READ_EVENTS } from "../../../src/merchant/keys/scopes.ts";
import { assertFault, testApi, type Json } from "../../support/api.ts";

const URL = "/api/v1/events";

test("D34 the feed is in order and complete, and next_cursor continues it, also at the end", async () => {
  const api = await testApi();
  const merchant = await api.openMerchant();
  const intents = [await merchant.createIntent(), await merchant.createIntent(), await merchant.createIntent()];
  await merchant.post(`/api/v1/intents/${intents[1].intentId}/archive`);
  while (!(await assignEventSequences(api.world)).isDone);
  const seen: Json[] = [];
  let after = "0";
  for (let pages = 0; pages < 5; pages += 1) {
    const { status, body } = await merchant.get(`${URL}?limit=2&after=${after}`);
    assert.equal(status, 200);
    seen.push(...body.data);
    after = body.next_cursor;
    if (!body.has_more) break;
  }
  assert.deepEqual(
    seen.map(({ sequence, type, intentId }) => [sequence, type, intentId]),
    [
      [1, "payment_intent.created", intents[0].intentId],
      [2, "payment_intent.created", intents[1].intentId],
      [3, "payment_intent.created", intents[2].intentId],
      [4, "payment_intent.archived", intents[1].intentId],
    ],
  );
  assert.equal(after, "4");
  assert.deepEqual((await merchant.get(`${URL}?after=4`)).body, {
    object: "list",
    data: [],
    has_more: false,
    next_cursor: "4",
  });
  assert.deepEqual((await merchant.get(`${URL}/${seen[3].id}`)).body, seen[3]);
});

test("D34 types and an intent select events, and a filtered page continues behind what it has read", async () => {
  const api = await testApi();
  const merchant = await api.openMerchant();
  const first = await merchant.createIntent();
  const second = await merchant.createIntent();
  await merchant.post(`/api/v1/intents/${first.intentId}/archive`);
  while (!(await assignEventSequences(api.world)).isDone);
  const sequences = async (query: string) => {
    const { body } = await merchant.get(`${URL}?${query}`);
    return [body.data.map(({ sequence }: Json) => sequence), body.next_cursor];
  };
  assert.deepEqual(await sequences("type=payment_intent.archived"), [[3], "3"]);
  assert.deepEqual(await sequences("type=deposit.*,settlement.landed"), [[], "3"]);
  assert.deepEqual(await sequences("type=payment_intent.*&limit=1"), [[1], "1"]);
  assert.deepEqual(await sequences(`intentId=${second.intentId}`), [[2], "3"]);
  assert.deepEqual(await sequences("intentId=pi_unknown"), [[], "3"]);
});

test("D34, D44 the feed of another account is not shown, and its own scope suffices", async () => {
  const api = await testApi();
  const [merchant, stranger] = [await api.openMerchant(), await api.openMerchant({ scopes: [READ_EVENTS] })];
  await merchant.createIntent();
  while (!(await assignEventSequences(api.world)).isDone);
  const { body } = await merchant.get(URL);
  assert.deepEqual((await stranger.get(URL)).body.data, []);
  assertFault(await stranger.get(`${URL}/${body.data[0].id}`), 404, "not_found");
  assertFault(await stranger.get("/api/v1/intents"), 403, "insufficient_scope");
});
