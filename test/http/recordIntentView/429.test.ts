import assert from "node:assert/strict";
import { test } from "node:test";
import { assertFault, testApi, type TestResponse } from "../../support/api.ts";

test("§8.2, D23 recordIntentView admits 30 calls in any 60 seconds per intent; other intents are unaffected", async () => {
  const api = await testApi();
  const merchant = await api.openMerchant();
  const [first, second] = [await merchant.insertIntent(), await merchant.insertIntent()];
  const view = (id: string) => merchant.post(`/api/v1/intents/${id}/view`);
  const recorded = async (calls: number) => {
    const answers: TestResponse[] = [];
    for (let index = 0; index < calls; index += 1) answers.push(await view(first.id));
    return answers.filter(({ status }) => status === 202).length;
  };
  assert.equal(await recorded(10), 10);
  api.advanceTime(25_000);
  assert.equal(await recorded(20), 20);
  const refused = await view(first.id);
  assertFault(refused, 429, "rate_limited");
  assert.deepEqual([refused.headers["ratelimit-limit"], refused.headers["retry-after"]], ["30", "35"]);
  assert.equal((await view(second.id)).status, 202);
  api.advanceTime(35_000);
  assert.equal(await recorded(20), 10, "the first ten have left the window, and none of the others");
});

test("D23 recordIntentView counts every call against both limits, even a refused one, and states the longer wait", async () => {
  const api = await testApi();
  const merchant = await api.openMerchant();
  const [first, second, third] = await Promise.all([1, 2, 3].map(() => merchant.insertIntent()));
  const view = (intent: { id: string } | undefined) => merchant.post(`/api/v1/intents/${intent?.id}/view`);
  for (let index = 0; index < 30; index += 1) await view(second);
  for (let index = 0; index < 30; index += 1) assert.equal((await view(third)).status, 202);
  api.advanceTime(50_000);
  // The operation's limit refuses all of these with a wait of ten seconds, and each counts for the intent.
  const refused: TestResponse[] = [];
  for (let index = 0; index < 31; index += 1) refused.push(await view(first));
  assert.deepEqual(new Set(refused.map(({ status }) => status)), new Set([429]));
  assert.deepEqual(
    [refused[0], refused[30]].map((each) => each?.headers["retry-after"]),
    ["10", "60"],
  );
  api.advanceTime(10_000);
  const [still, other] = [await view(first), await view(second)];
  assert.deepEqual([still.status, other.status], [429, 202]);
  assert.equal(still.headers["retry-after"], "50");
});
