import assert from "node:assert/strict";
import { connect } from "node:net";
import { text as readText } from "node:stream/consumers";
import { test } from "node:test";
import { listenTestApi, testApi, type TestApi } from "../support/api.ts";

const VERSION = "service-version: 2026-11-01\r\n";

async function listen(): Promise<{ api: TestApi; port: number }> {
  const api = await testApi();
  return { api, port: await listenTestApi(api) };
}

/** Writes bytes and returns the statuses of the answers until the server closes the connection. */
async function readStatuses(port: number, bytes: string): Promise<number[]> {
  const socket = connect({ host: "127.0.0.1", port });
  socket.write(bytes);
  const answers = await readText(socket);
  return [...answers.matchAll(/HTTP\/1\.1 (\d{3}) /g)].map(([, status]) => Number(status));
}

test("a complete request before what the parser refuses gets its own answer, and then the connection closes", async () => {
  const { api, port } = await listen();
  const merchant = await api.openMerchant();
  const statusesOf = (text: string) => readStatuses(port, text);
  const key = `authorization: ${String(merchant.headers["authorization"])}\r\n`;
  const body = JSON.stringify({ merchantReference: "before garbage" });
  const create = `POST /api/v1/intents HTTP/1.1\r\nhost: x\r\n${VERSION}${key}content-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`;
  for (const garbage of ["\0\0\0garbage\r\n\r\n", "GET /api/v1/intents HTTP/9.9\r\n\r\n"]) {
    assert.deepEqual(await statusesOf(create + garbage), [201]);
  }
  // The second request is under way when its body breaks.
  const broken = `POST /api/v1/intents HTTP/1.1\r\nhost: x\r\n${VERSION}${key}content-type: application/json\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n`;
  assert.deepEqual(await statusesOf(create + broken), [201, 400]);
});
