import assert from "node:assert/strict";
import { test } from "node:test";
import { createClient } from "@tributary/client";
import { TributaryError } from "@tributary/client/errors";
import { followEvents, readEvents } from "@tributary/client/events";
import type { Event } from "@tributary/client/types";
import { assignEventSequences } from "../../src/event/assignEventSequences.ts";
import { listenTestApi, testApi, type TestApi } from "../support/api.ts";
import { appendAccountEvents } from "../support/events.ts";

async function appendNumbered({ world }: TestApi, accountId: string, count: number): Promise<void> {
  await appendAccountEvents(world, accountId, count);
  while (!(await assignEventSequences(world)).isDone);
  world.wake.notify("event streams");
}

async function open() {
  const api = await testApi();
  const merchant = await api.openMerchant();
  const options = { baseUrl: `http://127.0.0.1:${await listenTestApi(api)}`, apiKey: merchant.apiKey };
  return { api, merchant, options };
}

const sequencesOf = (events: readonly Event[]) => events.map(({ sequence }) => sequence);

test("readEvents yields what exists, page after page, and ends", async () => {
  const { api, merchant, options } = await open();
  await appendNumbered(api, merchant.accountId, 130);
  const { listEvents } = createClient(options);
  const all = await Array.fromAsync(readEvents(listEvents, { after: 7 }));
  assert.deepEqual(
    sequencesOf(all),
    Array.from({ length: 123 }, (_, index) => index + 8),
  );
});

test("followEvents continues behind the last event when its connection breaks, without a gap or a repeat", async () => {
  const { api, merchant, options } = await open();
  await appendNumbered(api, merchant.accountId, 3);
  const ending = new AbortController();
  let connections = 0;
  // Each connection but the third breaks after some bytes.
  const breaking: typeof fetch = async (input, init) => {
    connections += 1;
    const response = await fetch(input, init);
    if (connections >= 3) return response;
    const cut = new TransformStream<Uint8Array, Uint8Array>({
      transform(chunk, controller) {
        controller.enqueue(chunk.slice(0, Math.floor(chunk.length * 0.7)));
        controller.terminate();
      },
    });
    return new Response(response.body?.pipeThrough(cut), response);
  };
  const seen: Event[] = [];
  for await (const event of followEvents({ ...options, fetch: breaking }, { signal: ending.signal })) {
    seen.push(event);
    if (event.sequence === 3) await appendNumbered(api, merchant.accountId, 2);
    if (event.sequence === 5) ending.abort();
  }
  assert.deepEqual(sequencesOf(seen), [1, 2, 3, 4, 5]);
  assert.ok(connections >= 2, "no connection broke");
});

test("followEvents throws what no retry mends", async () => {
  const { options } = await open();
  const wrong = followEvents({ ...options, apiKey: "trib_test_x" });
  await assert.rejects(wrong.next(), (error) => error instanceof TributaryError && error.code === "unauthorized");
});
