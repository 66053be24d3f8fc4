import assert from "node:assert/strict";
import { once } from "node:events";
import { METHODS } from "node:http";
import { connect, type AddressInfo, type Socket } from "node:net";
import { before, test, type TestContext } from "node:test";
import { listenTestApi, openTestApi, testApi, type Json, type Merchant, type TestApi } from "../support/api.ts";

// Requests that client libraries do not send, written to a socket.

const VERSION = "service-version: 2026-11-01\r\n";

let api: TestApi;
let port: number;
let merchant: Merchant;

before(async () => {
  api = await testApi();
  port = await listenTestApi(api);
  merchant = await api.openMerchant();
});

type RawReply = { status: number; body: Json; head: string };

/** Writes the parts in order and reads replies until the server closes the connection. */
async function exchange(...parts: (string | Buffer)[]): Promise<RawReply[]> {
  return parseReplies(await readAll(...parts));
}

async function readAll(...parts: (string | Buffer)[]): Promise<string> {
  const socket = connect({ host: "127.0.0.1", port });
  const chunks: Buffer[] = [];
  socket.on("data", (chunk: Buffer) => chunks.push(chunk));
  socket.on("error", () => {});
  const closed = new Promise((resolve) => socket.once("close", resolve));
  await once(socket, "connect");
  for (const part of parts) await write(socket, part);
  await closed;
  return Buffer.concat(chunks).toString("utf8");
}

async function write(socket: Socket, part: string | Buffer): Promise<void> {
  if (socket.destroyed || socket.write(part)) return;
  // When the server has closed the connection, "close" fires instead of "drain".
  await new Promise<void>((resolve) => {
    const finish = () => {
      socket.off("drain", finish).off("close", finish);
      resolve();
    };
    socket.on("drain", finish).on("close", finish);
  });
}

function parseReplies(text: string): RawReply[] {
  return text.split(/(?=HTTP\/1\.1 \d{3} )/).map((reply) => {
    const [head = "", body = ""] = reply.split("\r\n\r\n");
    return { status: Number(head.slice(9, 12)), head, body: body === "" ? undefined : JSON.parse(body) };
  });
}

function assertEnvelope(reply: RawReply | undefined, status: number, code: string): void {
  assert.ok(reply);
  assert.equal(reply.status, status, reply.head);
  assert.equal(reply.body.error.code, code);
  assert.match(reply.head, new RegExp(`request-id: ${reply.body.error.request_id}`, "i"));
}

function authorizedHead(): string {
  return `authorization: ${String(merchant.headers["authorization"])}\r\n${VERSION}connection: close\r\n`;
}

test("D20 a request that the parser refuses gets 400 in the envelope", async () => {
  const requests = [
    "nonsense\r\n\r\n",
    "GET /api/v1/intents HTTP/9.9\r\n\r\n",
    `GET / HTTP/1.1\r\nhost: x\r\nbig: ${"x".repeat(20_000)}\r\n\r\n`,
    "POST / HTTP/1.1\r\nhost: x\r\ncontent-length: 3\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n",
    "GET / HTTP/1.1\r\nhost: x\r\nbad header: 1\r\n\r\n",
  ];
  for (const request of requests) assertEnvelope((await exchange(request))[0], 400, "invalid_request");
});

test("D20 the server accepts a missing Host and an unknown Expect", async () => {
  const plain = `GET /api/v1/intents HTTP/1.1\r\n${authorizedHead()}`;
  for (const request of [`${plain}\r\n`, `${plain}expect: the unexpected\r\n\r\n`])
    assert.equal((await exchange(request))[0]?.status, 200);
});

test("D24 the version check comes before the path, even one that cannot be decoded", async () => {
  assertEnvelope(
    (await exchange("GET /api/v1/intents/%zz HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n"))[0],
    400,
    "missing_version",
  );
  assertEnvelope(
    (await exchange(`GET /api/v1/intents/%zz HTTP/1.1\r\nhost: x\r\n${VERSION}connection: close\r\n\r\n`))[0],
    404,
    "not_found",
  );
});

test("D24 a version sent twice is invalid", async () => {
  const [reply] = await exchange(`GET / HTTP/1.1\r\nhost: x\r\n${VERSION}${VERSION}connection: close\r\n\r\n`);
  assertEnvelope(reply, 400, "invalid_version");
});

test("D21 a request with two Authorization headers is unauthorized, even with valid keys", async () => {
  const right = `authorization: ${String(merchant.headers["authorization"])}\r\n`;
  const wrong = "authorization: Bearer guess\r\n";
  const ask = (headers: string) =>
    exchange(`GET /api/v1/intents HTTP/1.1\r\nhost: x\r\n${VERSION}connection: close\r\n${headers}\r\n`);
  for (const both of [right + wrong, wrong + right, right + right])
    assertEnvelope((await ask(both))[0], 401, "unauthorized");
  assert.equal((await ask(right))[0]?.status, 200);
});

test("D16 any Content-Encoding except identity is refused, also in a second header", async () => {
  const head = `POST /api/v1/intents HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\n${authorizedHead()}`;
  const ask = async (headers: string, body = "{}") =>
    (await exchange(`${head}${headers}content-length: ${body.length}\r\n\r\n${body}`))[0];
  for (const coding of ["gzip", "deflate", "br", "zstd", "x-gzip", "identity\r\ncontent-encoding: gzip", "*"])
    assertEnvelope(await ask(`content-encoding: ${coding}\r\n`), 400, "invalid_content_type");
  assertEnvelope(await ask("content-encoding: gzip\r\n", ""), 400, "invalid_content_type");
  assert.equal((await ask("content-encoding: Identity\r\n"))?.status, 201);
});

test("D16 a client that keeps sending an oversized body reads the 413", async () => {
  const head = `POST /api/v1/intents HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\n${authorizedHead()}`;
  const body = Buffer.alloc(1_000_000, " ");
  const announced = await exchange(`${head}content-length: ${body.length}\r\n\r\n`, body);
  assertEnvelope(announced[0], 413, "payload_too_large");
  const chunk = Buffer.concat([Buffer.from("10000\r\n"), Buffer.alloc(0x10000, " "), Buffer.from("\r\n")]);
  const chunked = await exchange(`${head}transfer-encoding: chunked\r\n\r\n`, chunk, chunk, chunk, "0\r\n\r\n");
  assertEnvelope(chunked[0], 413, "payload_too_large");
});

/** Starts a service with a manual sleep, and an endless upload that has exceeded the body limit by one byte. */
async function startEndlessUpload(t: TestContext) {
  const waits: { durationMs: number; end: () => void }[] = [];
  const sleep = (durationMs: number, ended?: AbortSignal) =>
    new Promise<void>((resolve) => {
      ended?.addEventListener("abort", () => resolve());
      waits.push({ durationMs, end: resolve });
    });
  const { server } = await openTestApi(api.world.db, { clock: { ...api.world.clock, sleep } });
  await server.listen({ host: "127.0.0.1", port: 0 });
  const accepted = once(server.server, "connection") as Promise<[Socket]>;
  const socket = connect({ host: "127.0.0.1", port: (server.server.address() as AddressInfo).port });
  const [closed, answered] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  let text = "";
  socket.on("error", () => {});
  socket.once("close", () => (closed.resolve(), answered.resolve()));
  socket.on("data", (chunk: Buffer) => (text += chunk.toString("utf8")).endsWith("}") && answered.resolve());
  t.signal.addEventListener("abort", () => socket.destroy());
  t.after(() => {
    socket.destroy();
    return server.close();
  });
  const head = `POST /api/v1/intents HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\n${authorizedHead()}`;
  const send = (bytes: number) => write(socket, `${bytes.toString(16)}\r\n${" ".repeat(bytes)}\r\n`);
  await write(socket, `${head}transfer-encoding: chunked\r\n\r\n`);
  await send(65_537);
  await answered.promise;
  const [receiver] = await accepted;
  return { socket, receiver, send, waits, closed: closed.promise, answer: parseReplies(text)[0] };
}

const MIB = 0x100000;

test(
  "D16 an endless body gets 413 at its first excess byte and is cut off after 32 MiB",
  { timeout: 120_000 },
  async (t) => {
    const { socket, receiver, send, answer } = await startEndlessUpload(t);
    assertEnvelope(answer, 413, "payload_too_large");
    for (let sentMib = 0; sentMib < 64 && !socket.destroyed; sentMib += 1) await send(MIB);
    assert.ok(receiver.bytesRead > 32 * MIB && receiver.bytesRead < 33 * MIB, `${receiver.bytesRead} bytes were read`);
  },
);

test("D16 a slow upload is cut off 5 seconds after its 413", { timeout: 120_000 }, async (t) => {
  const { socket, send, waits, closed, answer } = await startEndlessUpload(t);
  assertEnvelope(answer, 413, "payload_too_large");
  await send(1);
  assert.deepEqual(
    waits.map(({ durationMs }) => durationMs),
    [5_000],
  );
  assert.equal(socket.destroyed, false);
  waits[0]?.end();
  await closed;
});

test("an unauthenticated session request takes at most 4096 bytes", async () => {
  const { intentId, widgetToken } = await merchant.createIntent();
  const path = `/c/${String(intentId)}/session`;
  const head = `POST ${path} HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\nconnection: close\r\n`;
  const ask = (body: string) => exchange(`${head}content-length: ${body.length}\r\n\r\n${body}`);
  const body = JSON.stringify({ widgetToken });
  assertEnvelope((await ask(body.padEnd(4_097)))[0], 413, "payload_too_large");
  // The server does not wait for the announced body.
  assertEnvelope((await exchange(`${head}content-length: 4097\r\n\r\n`))[0], 413, "payload_too_large");
  assert.equal((await ask(body.padEnd(4_096)))[0]?.status, 204);
});

test("D20 a wrong key gets 401 before the body arrives", async () => {
  const head = `POST /api/v1/intents HTTP/1.1\r\nhost: x\r\n${VERSION}content-type: ;;\r\ncontent-length: 5\r\nconnection: close\r\n\r\n`;
  const socket = connect({ host: "127.0.0.1", port });
  socket.write(head);
  const [answer] = (await once(socket, "data")) as [Buffer];
  assertEnvelope(parseReplies(answer.toString("utf8"))[0], 401, "unauthorized");
  socket.end("12345");
  await once(socket, "close");
});

test("a connection stays open after an error", async () => {
  const first = `POST /nowhere HTTP/1.1\r\nhost: x\r\n${VERSION}content-type: application/json\r\ncontent-length: 3\r\n\r\n{{{`;
  const second = `GET /api/v1/intents HTTP/1.1\r\nhost: x\r\n${authorizedHead()}\r\n`;
  const replies = await exchange(first, second);
  assert.deepEqual(
    replies.map((reply) => reply.status),
    [404, 200],
  );
});

test("D20 a connection takes a thousand requests at any speed, then closes", async () => {
  const request = `GET /nowhere HTTP/1.1\r\nhost: x\r\n${VERSION}\r\n`;
  const replies = await exchange(request.repeat(1_000));
  assert.equal(replies.length, 1_000);
  for (const reply of replies) assertEnvelope(reply, 404, "not_found");
  assert.match(replies.at(-1)?.head ?? "", /connection: close/i);
  // The server does not read further requests; a reset may lose the last answers.
  const statuses = (await readAll(request.repeat(3_000))).match(/HTTP\/1\.1 \d{3}/g) ?? [];
  assert.ok(statuses.length <= 1_000, `${statuses.length} answers`);
  for (const status of statuses) assert.equal(status, "HTTP/1.1 404");
  assert.equal((await exchange(`GET /api/v1/intents HTTP/1.1\r\n${authorizedHead()}\r\n`))[0]?.status, 200);
});

test("timeouts bound each connection, and maxConnections bounds their number", () => {
  const { requestTimeout, headersTimeout, timeout, maxRequestsPerSocket, maxConnections } = api.server.server;
  assert.deepEqual(
    { requestTimeout, headersTimeout, timeout, maxRequestsPerSocket, maxConnections },
    {
      requestTimeout: 15_000,
      headersTimeout: 10_000,
      timeout: 20_000,
      maxRequestsPerSocket: 1_000,
      maxConnections: 10_000,
    },
  );
});

test("a request with an ambiguous end is refused, and no later bytes are read", async () => {
  const head = `POST /api/v1/intents HTTP/1.1\r\ncontent-type: application/json\r\n${authorizedHead()}`.replace(
    "connection: close\r\n",
    "",
  );
  const chunked = `${head}transfer-encoding: chunked\r\n`;
  const smuggled = `GET /smuggled HTTP/1.1\r\nhost: x\r\n${VERSION}connection: close\r\n\r\n`;
  const requests = [
    `${head}content-length: 5\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n`,
    `${chunked}content-length: 5\r\n\r\n0\r\n\r\n`,
    ...["2\r\ncontent-length: 3", "2\r\ncontent-length: 2", "2, 2", "+2", "-2", "0x2", "18446744073709551618", ""].map(
      (length) => `${head}content-length: ${length}\r\n\r\n{}`,
    ),
    `${head}content-length : 2\r\n\r\n{}`,
    ...[
      ": identity",
      ": xchunked",
      ": gzip, chunked",
      ": gzip\r\ntransfer-encoding: chunked",
      ": identity, chunked",
      ": , chunked",
      ": chunked, chunked",
      ": chunked\r\ntransfer-encoding: chunked",
      ": chunked;q=1",
      ': "chunked"',
      ":",
      ": chunked, identity",
      ": chunked\r\ntransfer-encoding: identity",
      ": \vchunked",
      " : chunked",
      ":\r\n chunked",
    ].map((coding) => `${head}transfer-encoding${coding}\r\n\r\n0\r\n\r\n`),
    // A carriage return without its line feed, and a line feed without its carriage return.
    `GET /api/v1/intents HTTP/1.1\r\nhost: x\r\nx: y\rtransfer-encoding: chunked\r\n\r\n0\r\n\r\n`,
    `GET /api/v1/intents HTTP/1.1\r\nhost: x\r\nx: y\ncontent-length: 2\r\n\r\n{}`,
    `GET /api/v1/intents HTTP/1.1\nhost: x\n\n`,
    ...[
      "+2\r\n{}\r\n0\r\n\r\n",
      "0x2\r\n{}\r\n0\r\n\r\n",
      "10000000000000002\r\n{}\r\n0\r\n\r\n",
      "2\n{}\n0\n\n",
      "2;a\nxx\r\n{}\r\n0\r\n\r\n",
      "2;a\rxx\r\n{}\r\n0\r\n\r\n",
      "2\r\n{}XX0\r\n\r\n",
      "2 \r\n{}\r\n0\r\n\r\n",
    ].map((body) => `${chunked}\r\n${body}`),
    `${chunked.replace("HTTP/1.1", "HTTP/1.0")}\r\n2\r\n{}\r\n0\r\n\r\n`,
    ...["/api/v1/intents", "/api/v1/intents/%zz", "/nowhere", "/healthz", "/docs"].flatMap((path) => [
      `GET ${path} HTTP/1.1\r\nhost: x\r\nHost: y\r\n${VERSION}\r\n`,
      `GET ${path} HTTP/1.1\r\nhost: x\r\n${VERSION}transfer-encoding: gzip, chunked\r\n\r\n0\r\n\r\n`,
    ]),
    `GET /api/v1/intents HTTP/1.1\r\n x: y\r\nhost: x\r\n\r\n`,
    `GET /api/v1/intents HTTP/1.1\r\nhost: x\r\nx: y\r\n transfer-encoding: chunked\r\n\r\n`,
    `GET /api/v1/intents HTTP/1.1\r\nhost: x\r\nx : y\r\n\r\n`,
    `GET /api/v1/intents HTTP/1.1\r\nhost: x\r\n: y\r\n\r\n`,
    `GET /api/v1/intents HTTP/1.1\r\nhost: x\r\nx\r\n\r\n`,
    `GET /api/v1/intents HTTP/1.1\r\nhost: x\r\nx: y\rz\r\n\r\n`,
    `${chunked}trailer: content-length\r\n\r\n2\r\n{}\r\n0\r\ncontent-length: 9\r\n\r\n`,
    `GET /api/v1/intents HTTP/1.1\r\nhost: x\r\nx: a\0b\r\n\r\n`,
    "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
  ];
  const answers = await Promise.all(requests.map((request) => exchange(request + smuggled)));
  for (const [index, replies] of answers.entries()) {
    assert.equal(replies.length, 1, JSON.stringify(requests[index]));
    assertEnvelope(replies[0], 400, "invalid_request");
  }
  // The server reads an unambiguous request to its end and starts the next one there.
  const clear = [
    `${head}content-length: 2\r\n\r\n{}`,
    `${chunked}\r\n2\r\n{}\r\n0\r\n\r\n`,
    `${head}transfer-encoding:\tCHUNKED \r\n\r\n2;a=b\r\n{}\r\n0\r\nx: y\r\n\r\n`,
    `\r\n${head}content-length: 2\r\n\r\n{}`,
  ];
  for (const request of clear)
    assert.deepEqual(
      (await exchange(request + smuggled)).map(({ status }) => status),
      [201, 404],
    );
});

test("chunked trailers are not headers of the request", async () => {
  const head = `POST /api/v1/intents HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\n${VERSION}`;
  const key = `authorization: ${String(merchant.headers["authorization"])}\r\n`;
  const body = `connection: close\r\ntransfer-encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n`;
  assertEnvelope((await exchange(`${head}${body}${key}\r\n`))[0], 401, "unauthorized");
  assert.equal((await exchange(`${head}${key}${body}\r\n`))[0]?.status, 201);
});

test("D20 CONNECT to any target has no route and opens no tunnel", async () => {
  for (const target of ["example.com:443", "127.0.0.1:22", "/api/v1/intents", "/healthz", "*"]) {
    const ask = (headers: string, behind = "") =>
      exchange(`CONNECT ${target} HTTP/1.1\r\nhost: x\r\n${headers}\r\n${behind}`);
    const smuggled = `GET /smuggled HTTP/1.1\r\nhost: x\r\n${VERSION}\r\n`;
    for (const replies of [await ask(VERSION), await ask(authorizedHead()), await ask(VERSION, smuggled)]) {
      assert.equal(replies.length, 1, target);
      assertEnvelope(replies[0], 404, "not_found");
      assert.match(replies[0]?.head ?? "", /connection: close/i);
    }
    if (target !== "/healthz") assertEnvelope((await ask(""))[0], 400, "missing_version");
    assertEnvelope((await ask(`${VERSION}content-length: 5\r\n`, "hello"))[0], 404, "not_found");
  }
});

test("D20 a CONNECT behind an unanswered request closes only its own connection", async () => {
  const first = `GET /api/v1/intents HTTP/1.1\r\nhost: x\r\n${VERSION}\r\n`;
  const connect = "CONNECT example.com:443 HTTP/1.1\r\nhost: x\r\n\r\n";
  for (const count of [1, 2, 20]) assert.ok((await exchange(first.repeat(count) + connect)).length <= count);
  assert.equal((await exchange(`GET /api/v1/intents HTTP/1.1\r\nhost: x\r\n${authorizedHead()}\r\n`))[0]?.status, 200);
});

test("D20 an upgrade request gets an HTTP/1.1 answer with connection: close", async () => {
  const upgrades = ["upgrade: websocket\r\nsec-websocket-key: x\r\nsec-websocket-version: 13", "upgrade: h2c"];
  for (const upgrade of upgrades) {
    const head = (start: string, headers: string) =>
      `${start} HTTP/1.1\r\nhost: x\r\nconnection: upgrade\r\n${upgrade}\r\n${headers}`.replace(
        "connection: close\r\n",
        "",
      );
    const key = authorizedHead().replace("connection: close\r\n", "");
    const answers = [
      await exchange(`${head("GET /api/v1/intents", key)}\r\n`),
      await exchange(`${head("GET /nowhere", VERSION)}\r\n`),
      await exchange(`${head("GET /api/v1/intents", "")}\r\n`),
      await exchange(
        `${head("POST /api/v1/intents", key)}content-type: application/json\r\ncontent-length: 2\r\n\r\n{}`,
      ),
    ];
    assert.deepEqual(
      answers.map((replies) => replies.map(({ status }) => status)),
      [[200], [404], [400], [201]],
    );
    for (const [reply] of answers) assert.match(reply?.head ?? "", /connection: close/i);
  }
});

test("D20 every other verb that the parser knows gets missing_version or not_found", async () => {
  const verbs = METHODS.filter((verb) => !["HEAD", "GET", "POST"].includes(verb));
  const ask = (verb: string, version: string) =>
    exchange(`${verb} /api/v1/intents HTTP/1.1\r\nhost: x\r\n${version}connection: close\r\n\r\n`);
  const answers = await Promise.all(verbs.map((verb) => Promise.all([ask(verb, ""), ask(verb, VERSION)])));
  for (const [[bare], [versioned]] of answers) {
    assertEnvelope(bare, 400, "missing_version");
    assertEnvelope(versioned, 404, "not_found");
  }
});
