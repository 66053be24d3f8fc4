import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import type { TracedStep } from "../../src/kernel/tracing/tracing.ts";
import { openTestApi, testApi, type Merchant, type TestApi } from "../support/api.ts";

// Which requests send a span to the collector. What a span looks like on the way is tested beside the exporter.

let api: TestApi;
let merchant: Merchant;
const steps: TracedStep[] = [];

before(async () => {
  const { world } = await testApi();
  const tracing = { record: (step: TracedStep) => void steps.push(step), close: async () => undefined };
  api = await openTestApi(world.db, { tracing });
  merchant = await api.openMerchant();
});
after(() => api.server.close());

test("a change has a span of its intent, and a fast read has none", async () => {
  const { intentId } = await merchant.createIntent();
  await merchant.post(`/api/v1/intents/${intentId}/archive`);
  const { status } = await merchant.get("/api/v1/intents/pi_1");
  assert.equal(status, 404);
  const shown = steps.map(({ name, intentId: of, attributes }) => [name, of, attributes["status"]]);
  assert.deepEqual(
    shown.filter(([name]) => !String(name).startsWith("GET ")),
    [
      ["POST /api/v1/intents", undefined, 201],
      ["POST /api/v1/intents/:id/archive", intentId, 200],
    ],
  );
  const reads = steps.filter(({ name }) => name.startsWith("GET "));
  assert.ok(
    reads.every(({ startedMs, endedMs }) => endedMs - startedMs >= 20),
    "only slow reads",
  );
});
