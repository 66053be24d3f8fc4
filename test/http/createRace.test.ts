import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { openTestApi, testApi, type TestResponse, type Json, type TestApi } from "../support/api.ts";
import { openTestDatabase } from "../support/database.ts";
import type { Db } from "../../src/db/database.ts";
import { onlyDeep } from "../support/runNumber.ts";

// Races need several database connections.

const URL = "/api/v1/intents";
const CREATES = 30;

let db: Db;
let api: TestApi;

before(async () => {
  db = await openTestDatabase("postgres", { poolSizeMax: CREATES });
  api = await openTestApi(db);
});

after(async () => {
  await api.server.close();
  await db.close();
});

function bodiesOf(answers: readonly TestResponse[], status: number): Json[] {
  return answers.filter((response) => response.status === status).map((response) => response.body);
}

test("§4.2.3 exactly one of thirty parallel creates with one destination creates the intent", async () => {
  const merchant = await api.openMerchant();
  const create = () => merchant.post(URL, { payoutWallet: merchant.wallet, priceUnits: 5 });
  const answers = await Promise.all(Array.from({ length: CREATES }, create));
  const bodies = bodiesOf(answers, 201);
  assert.equal(bodies.length, CREATES, answers.map(({ text }) => text).join("\n"));
  assert.equal(bodies.filter((body) => body.created).length, 1);
  assert.equal(new Set(bodies.map((body) => body.intentId)).size, 1);

  const { intentId } = bodies[0];
  const opened = [];
  for (const { widgetToken } of bodies) {
    const headers = { "content-type": "application/json" };
    const response = await api.send(`/c/${intentId}/session`, { method: "POST", headers, body: { widgetToken } });
    opened.push(response.status);
  }
  assert.equal(opened.filter((status) => status === 204).length, 1, "exactly one widget token is the latest");
});

test("§4.2.6 one of parallel creates with different prices creates the intent, equal prices find it, the others conflict", async () => {
  const merchant = await api.openMerchant();
  const create = (_: unknown, index: number) =>
    merchant.post(URL, { payoutWallet: merchant.wallet, priceUnits: 1 + (index % 3) });
  const answers = await Promise.all(Array.from({ length: CREATES }, create));
  assert.equal(bodiesOf(answers, 201).length, CREATES / 3);
  assert.equal(bodiesOf(answers, 201).filter((body) => body.created).length, 1);
  assert.equal(bodiesOf(answers, 409).length, (CREATES * 2) / 3);
  const { body } = await merchant.get(URL);
  assert.equal(body.data.length, 1);
});

test("§4.2.8 parallel creates without a destination all create an intent, each with an inbox of its own", async () => {
  const merchant = await api.openMerchant();
  const answers = await Promise.all(Array.from({ length: CREATES }, () => merchant.post(URL, {})));
  assert.equal(new Set(bodiesOf(answers, 201).map((body) => body.inboxAddress)).size, CREATES);
});

test("§4.5.3 parallel calls for one source inbox all get the same address", async () => {
  const merchant = await api.openMerchant();
  const { intentId } = await merchant.createIntent();
  const issue = () => merchant.post(`${URL}/${intentId}/source-inbox`, { chainId: 31337 });
  const answers = await Promise.all(Array.from({ length: CREATES }, issue));
  assert.equal(new Set(bodiesOf(answers, 201).map((body) => body.caip10)).size, 1);
});

test("D23 a burst passes exactly up to the limit", { skip: onlyDeep }, async () => {
  const merchant = await (await testApi()).openMerchant();
  const answers = await Promise.all(Array.from({ length: 200 }, () => merchant.get(URL)));
  assert.equal(answers.filter(({ status }) => status === 200).length, 60);
  assert.equal(answers.filter(({ status }) => status === 429).length, 140);
});
