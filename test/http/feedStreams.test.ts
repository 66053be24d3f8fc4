import assert from "node:assert/strict";
import { once } from "node:events";
import { connect, type AddressInfo } from "node:net";
import { after, before, describe, test } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import type { Db } from "../../src/db/database.ts";
import { assignEventSequences } from "../../src/event/assignEventSequences.ts";
import { appendEvents } from "../../src/event/store.ts";
import { openTestApi, type Merchant, type TestApi } from "../support/api.ts";
import { openCheckout } from "../support/checkout.ts";
import { openTestDatabase, thoroughDatabase } from "../support/database.ts";
import { appendAccountEvents } from "../support/events.ts";
import { openEventStream } from "../support/eventStream.ts";

const PATH = "/api/v1/events/stream";
/** More than the buffers of a connection hold. */
const EVENTS = 2_000;
const EVENT_BYTES = 8_000;
const UNREAD_MS_MAX = 30_000;
const POLLS_MAX = 200;

describe("streams of events", () => {
  let db: Db;
  let api: TestApi;
  before(async () => {
    db = await openTestDatabase(thoroughDatabase);
    api = await openTestApi(db);
    await api.server.listen({ host: "127.0.0.1", port: 0 });
  });
  after(async () => {
    await api.server.close();
    await db.close();
  });

  const port = () => (api.server.server.address() as AddressInfo).port;
  const open = (merchant: Merchant) =>
    openEventStream(`http://127.0.0.1:${port()}${PATH}`, merchant.headers as Record<string, string>);
  const number = async () => {
    while (!(await assignEventSequences(api.world)).isDone);
    api.world.wake.notify("event streams");
  };

  test("a client that reads nothing is disconnected, and delays no other one", async () => {
    const [silent, other] = [await api.openMerchant(), await api.openMerchant()];
    const event = {
      type: "account.updated",
      accountId: silent.accountId,
      intentNumber: null,
      livemode: false,
    } as const;
    const object = { object: "change", padding: "x".repeat(EVENT_BYTES) };
    const events = Array.from({ length: EVENTS }, () => ({ ...event, object, previous: null }));
    await db.transaction((tx) => appendEvents(tx, api.world, { events, at: api.world.clock.now() }));
    await number();
    const socket = connect(port(), "127.0.0.1");
    await once(socket, "connect");
    const headers = Object.entries(silent.headers).map(([name, value]) => `${name}: ${String(value)}\r\n`);
    socket.write(`GET ${PATH} HTTP/1.1\r\nhost: pay\r\n${headers.join("")}\r\n`);
    const closed = new Promise<void>((resolve) => {
      socket.on("error", () => resolve()).on("close", () => resolve());
    });
    socket.pause();
    const stream = await open(other);
    await appendAccountEvents(api.world, other.accountId, 1);
    await number();
    assert.equal((await stream.next()).id, "1");
    let isClosed = false;
    void closed.then(() => (isClosed = true));
    for (let polls = 0; polls < POLLS_MAX && !isClosed; polls += 1) {
      api.advanceTime(UNREAD_MS_MAX / 10);
      await delay(50);
      // Node shows a closed connection to a reader only.
      if (polls > 20) socket.resume();
    }
    assert.ok(isClosed, "the connection stands");
    assert.ok(socket.bytesRead < EVENTS * EVENT_BYTES, "it read everything");
    stream.close();
  });

  test("D34 a shutdown ends streams in order", async () => {
    const ending = await openTestApi(db);
    const base = await ending.server.listen({ host: "127.0.0.1", port: 0 });
    const { headers } = await ending.openMerchant();
    const stream = await openEventStream(`${base}${PATH}`, headers as Record<string, string>);
    let isClosed = false;
    const closed = ending.server.close().then(() => (isClosed = true));
    await stream.ended;
    for (let polls = 0; polls < POLLS_MAX / 2 && !isClosed; polls += 1) await delay(50);
    assert.ok(isClosed, "a connection of the stream holds up the shutdown");
    await closed;
  });
});

test("clients that leave while their streams open leave their places", async (t) => {
  // PostgreSQL, because the embedded database answers before a connection ends.
  const db = await openTestDatabase("postgres");
  const api = await openTestApi(db);
  await api.server.listen({ host: "127.0.0.1", port: 0 });
  t.after(async () => {
    await api.server.close();
    await db.close();
  });
  const { port } = api.server.server.address() as AddressInfo;
  const merchant = await api.openMerchant();
  const page = await openCheckout(api, await merchant.createIntent());
  /** Sends a request and ends the connection with it. */
  const sendAndLeave = async (path: string, headers: object) => {
    const lines = Object.entries(headers).map(([name, value]) => `${name}: ${String(value)}\r\n`);
    const socket = connect(port, "127.0.0.1").resume();
    socket.end(`GET ${path} HTTP/1.1\r\nhost: pay\r\n${lines.join("")}\r\n`);
    await once(socket, "close");
  };
  // Twice as many as an account may have, and four times those of a page's session.
  for (const [path, headers] of [
    [`/c/${page.intentId}/events`, { cookie: page.cookie }],
    [PATH, merchant.headers],
  ] as const) {
    await Promise.all(Array.from({ length: 20 }, () => sendAndLeave(path, headers)));
    let { status } = await api.send(path, { headers });
    for (let polls = 0; polls < 20 && status !== 200; polls += 1) {
      await delay(50);
      ({ status } = await api.send(path, { headers }));
    }
    assert.equal(status, 200, path);
  }
});
