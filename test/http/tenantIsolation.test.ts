import assert from "node:assert/strict";
import { test } from "node:test";
import { assignEventSequences } from "../../src/event/assignEventSequences.ts";
import { newId } from "../../src/kernel/ids.ts";
import { systemEntropy } from "../../src/kernel/entropy.ts";
import { SCOPES } from "../../src/merchant/keys/scopes.ts";
import { openTestApi, type Merchant } from "../support/api.ts";
import { openTestDatabase } from "../support/database.ts";
import { OPERATIONS, type OperationId } from "../support/operationSpecs.ts";
import { callOperation } from "../support/operationTests.ts";
import { createEndpoint } from "../support/webhookApi.ts";
import { openObservedDatabase } from "../support/faultyDatabase.ts";

// Two accounts on one service: one account's requests never reveal the other.

const WITH_ID = (Object.keys(OPERATIONS) as OperationId[]).filter((operationId) =>
  OPERATIONS[operationId].path.includes("{id}"),
);

function idKindOf(operationId: OperationId): "pi" | "we" | "evt" {
  const { path } = OPERATIONS[operationId];
  if (path.includes("/webhook-endpoints/")) return "we";
  return path.includes("/events/") ? "evt" : "pi";
}

test("§5.3, D26 a foreign id and an unknown id run the same statements and get the same bytes on every operation", async () => {
  // SQL statements without parameters, including those inside transactions.
  const statements: string[] = [];
  const db = await openObservedDatabase((sql) => statements.push(sql));
  const api = await openTestApi(db);
  try {
    const merchant = await api.openMerchant({ scopes: SCOPES });
    const stranger = await api.openMerchant({ scopes: SCOPES });
    const foreign = await stranger.insertIntent();
    const archived = await stranger.insertIntent({ status: "archived", archived_at: api.world.clock.now() });
    const { webhookEndpointId } = await createEndpoint(stranger);
    await stranger.createIntent();
    while (!(await assignEventSequences(api.world)).isDone);
    const { body: feed } = await stranger.get("/api/v1/events");
    const foreignIds = {
      pi: [foreign.id, archived.id],
      we: [webhookEndpointId],
      evt: [feed.data[0].id],
    };
    for (const operationId of WITH_ID) {
      const kind = idKindOf(operationId);
      const observed = new Set<string>();
      for (const id of [newId(kind, systemEntropy), ...foreignIds[kind]]) {
        await callOperation({ operationId, merchant }, { id: newId(kind, systemEntropy) });
        statements.length = 0;
        const { status, text, body, headers } = await callOperation({ operationId, merchant }, { id });
        assert.equal(status, 404);
        const names = Object.keys(headers).toSorted().join(" ");
        const bytes = text.replace(body.error.request_id, "");
        observed.add(JSON.stringify([bytes, names, headers["content-length"], statements]));
        assert.notEqual(statements.length, 0, `${operationId} asked for nothing`);
      }
      assert.equal(observed.size, 1, `${operationId}: ${[...observed].join("\n")}`);
    }
  } finally {
    await api.server.close();
    await db.close();
  }
});

test("§5.3, D15 a cursor is invalid for another account, and lists never mix", async () => {
  const db = await openTestDatabase("postgres");
  const api = await openTestApi(db);
  try {
    const [one, other] = [await api.openMerchant(), await api.openMerchant()];
    const idsOf = async (merchant: Merchant) => {
      const ids: string[] = [];
      for (let count = 0; count < 3; count += 1) ids.push((await merchant.createIntent()).intentId);
      return ids.toReversed();
    };
    const [ones, others] = [await idsOf(one), await idsOf(other)];
    const first = await one.get("/api/v1/intents?limit=2");
    const stolen = await other.get(`/api/v1/intents?cursor=${first.body.next_cursor}`);
    assert.deepEqual([stolen.status, stolen.body.error.code], [400, "invalid_cursor"]);
    for (const [merchant, ids] of [
      [one, ones],
      [other, others],
    ] as const) {
      const { body } = await merchant.get("/api/v1/intents?limit=100");
      assert.deepEqual(
        body.data.map(({ intentId }: { intentId: string }) => intentId),
        ids,
      );
    }
  } finally {
    await api.server.close();
    await db.close();
  }
});
