import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { json } from "node:stream/consumers";
import { test } from "node:test";
import { idBytes } from "../ids.ts";
import { openTracing } from "./tracing.ts";

type Span = {
  traceId: string;
  parentSpanId?: string;
  name: string;
  startTimeUnixNano: string;
  endTimeUnixNano: string;
};
type Attribute = { key: string; value: { stringValue?: string } };
type Export = {
  resourceSpans: {
    resource: { attributes: Attribute[] };
    scopeSpans: { spans: (Span & { attributes: Attribute[] })[] }[];
  }[];
};

const INTENT = "pi_3x7g9k2m5n8p1q4r6s0t3v5w7y";
const at = (second: number) => Date.UTC(2026, 10, 28, 0, 0, second);

test("the steps of an intent are one trace with its id, and others are traces of their own", async () => {
  const received: Export[] = [];
  const collector = createServer((request, response) => {
    void json(request).then((body) => {
      received.push(body as Export);
      response.end("{}");
    });
  }).listen(0, "127.0.0.1");
  await once(collector, "listening");
  const { port } = collector.address() as AddressInfo;
  const tracing = await openTracing({ otlpUrl: `http://127.0.0.1:${port}/v1/traces`, version: "1.2.3" });
  const attributes = { account: "acct_1", reason: null };
  tracing.record({ name: "deposit.counted", intentId: INTENT, startedMs: at(1), endedMs: at(3), attributes });
  tracing.record({ name: "settlement.landed", intentId: INTENT, startedMs: at(3), endedMs: at(9), attributes });
  tracing.record({ name: "GET /api/v1/intents", intentId: undefined, startedMs: at(1), endedMs: at(1), attributes });
  await tracing.close();
  collector.close();
  const [resource] = received.flatMap(({ resourceSpans }) => resourceSpans);
  const spans = resource?.scopeSpans.flatMap((scope) => scope.spans) ?? [];
  const traceId = Buffer.from(idBytes("pi", INTENT) ?? []).toString("hex");
  assert.deepEqual(
    spans.map((span) => [
      span.name,
      span.traceId === traceId,
      Number(BigInt(span.endTimeUnixNano) - BigInt(span.startTimeUnixNano)) / 1e9,
    ]),
    [
      ["deposit.counted", true, 2],
      ["settlement.landed", true, 6],
      ["GET /api/v1/intents", false, 0],
    ],
  );
  const readAttributes = (list: Attribute[] = []) =>
    Object.fromEntries(list.map(({ key, value }) => [key, value.stringValue]));
  assert.deepEqual(readAttributes(spans[0]?.attributes), {
    "tributary.intent_id": INTENT,
    "tributary.account": "acct_1",
  });
  assert.equal(readAttributes(resource?.resource.attributes)["service.name"], "tributary");
});

test("a collector that does not answer loses spans and stops nothing", async () => {
  const tracing = await openTracing({ otlpUrl: "http://127.0.0.1:1/v1/traces", version: "1.2.3" });
  tracing.record({ name: "step", intentId: INTENT, startedMs: at(1), endedMs: at(2), attributes: {} });
  await tracing.close();
});
