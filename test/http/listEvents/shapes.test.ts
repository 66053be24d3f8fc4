import assert from "node:assert/strict";
import { test } from "node:test";
import { EVENT_TYPES } from "../../../src/event/event.ts";
import golden from "../../../src/event/format/golden.json" with { type: "json" };
import { DOCUMENT, assertShape } from "../../support/assertDocumented.ts";

/** The kind of each golden resource, in the document. */
const KINDS: Readonly<Record<string, [schema: string, type: string]>> = {
  payment_intent: ["PaymentIntentEvent", "payment_intent.settled"],
  deposit: ["DepositEvent", "deposit.counted"],
  settlement: ["SettlementEvent", "settlement.landed"],
  source_inbox: ["SourceInboxEvent", "source_inbox.issued"],
  account: ["AccountEvent", "account.updated"],
};

test("D32 every stored format shows what the document says of its kind", () => {
  const seen = new Set<string>();
  for (const { name, data } of golden) {
    const [kind = ""] = name.split(" ");
    const [schema, type] = KINDS[kind] ?? assert.fail(name);
    const event = {
      id: `evt_${"0".repeat(26)}`,
      object: "event",
      type,
      sequence: 1,
      livemode: false,
      apiVersion: "2026-11-01",
      createdAt: "2026-11-02T08:00:00.123Z",
      intentId: kind === "account" ? null : `pi_${"0".repeat(26)}`,
      merchantReference: null,
      data: JSON.parse(data),
    };
    assertShape(`#/components/schemas/${schema}`, event, name);
    seen.add(kind);
  }
  assert.deepEqual([...seen].toSorted(), Object.keys(KINDS).toSorted());
});

test("D33 the document describes the webhook of every type", () => {
  assert.deepEqual(Object.keys(DOCUMENT.webhooks), [...Object.keys(EVENT_TYPES), "webhook_endpoint.test"]);
  for (const [type, { post }] of Object.entries<{ post: { requestBody: object } }>(DOCUMENT.webhooks))
    assert.match(JSON.stringify(post.requestBody), /"\$ref":"#\/components\/schemas\/\w+Event"/, type);
});
