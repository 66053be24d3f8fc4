import assert from "node:assert/strict";
import { test } from "node:test";
import { assignEventSequences } from "../../src/event/assignEventSequences.ts";
import { assertFault } from "../support/api.ts";
import { ENDPOINTS, openWebhookMerchant } from "../support/webhookApi.ts";

const keyed = (key: string) => ({ "idempotency-key": key });

test("D17 a repeated create of a webhook endpoint returns the first one with its secret", async () => {
  const { merchant } = await openWebhookMerchant();
  const create = (url: string) => merchant.post(ENDPOINTS, { url }, keyed("endpoint 1"));
  const first = await create("https://shop.example/first");
  const again = await create("https://shop.example/first");
  assert.deepEqual([again.status, again.headers["idempotent-replayed"]], [201, "true"]);
  assert.deepEqual(again.body, first.body);
  assertFault(await create("https://shop.example/other"), 409, "idempotency_key_reuse");
  assert.equal((await merchant.get(ENDPOINTS)).body.data.length, 2);
});

test("D17 a repeated rotation, test event and redelivery happen once", async () => {
  const { api, merchant, url, endpoint } = await openWebhookMerchant();
  await merchant.createIntent();
  while (!(await assignEventSequences(api.world)).isDone);
  const calls: [string, object][] = [
    ["rotate-secret", {}],
    ["test", {}],
    ["redeliver", { fromSequence: 1, toSequence: 1 }],
  ];
  for (const [path, body] of calls) {
    const first = await merchant.post(`${url}/${path}`, body, keyed("same"));
    const again = await merchant.post(`${url}/${path}`, body, keyed("same"));
    assert.deepEqual([again.status, again.text], [first.status, first.text], path);
    assert.deepEqual([first.headers["idempotent-replayed"], again.headers["idempotent-replayed"]], [undefined, "true"]);
  }
  assert.equal((await merchant.get(`${url}/deliveries`)).body.data.length, 2);
  // A secret is stored nowhere else, so a repeat after a later rotation shows the present one.
  const { body: later } = await merchant.post(`${url}/rotate-secret`);
  const repeated = await merchant.post(`${url}/rotate-secret`, {}, keyed("same"));
  assert.equal(repeated.body.secret, later.secret);
  assert.notEqual(later.secret, endpoint.secret);
});
