import assert from "node:assert/strict";
import { fork } from "node:child_process";
import { once } from "node:events";
import { createServer } from "node:http";
import { connect, type AddressInfo, type Socket } from "node:net";
import { Duplex } from "node:stream";
import { test } from "node:test";
import { pino } from "pino";
import { limitConnections } from "../../src/http/wire/limitConnections.ts";
import { systemClock } from "../../src/kernel/clock.ts";
import type { SlowClientReport } from "../flood/slowClientProcess.ts";
import type { SlowAttack, SlowClientOptions } from "../flood/slowClients.ts";
import { callRepeatedly } from "../flood/callRepeatedly.ts";
import { openTestApi, testApi } from "../support/api.ts";

// Many at once who do not let go.

const CONNECTIONS_MAX = 20;
const PIPELINED_REQUESTS = 100;
const SLOW_CONNECTIONS = 800;
/** What a connection may cost, and what was read and waits to be collected. */
const HELD_BYTES_MAX = 60_000_000;
const CALLS_MS = 1_000;

test("12 one network cannot take the last connections from all the others, and a proxy of ours is no such network", async () => {
  for (const [trustedProxies, allowed] of [
    [[], 10],
    [["127.0.0.0/30"], CONNECTIONS_MAX],
    [["127.0.0.9", "127.0.0.2"], CONNECTIONS_MAX],
  ] as const) {
    const server = createServer((_request, response) => response.end());
    limitConnections({ server }, { trustedProxies, connectionsMax: CONNECTIONS_MAX, world: createLoggingWorld() });
    server.listen(0, "0.0.0.0");
    await once(server, "listening");
    const { port } = server.address() as AddressInfo;
    const sockets: Socket[] = [];
    /** How many of so many connections stay open from one address; each shows it by an answer. */
    const knock = async (localAddress: string, count: number): Promise<number> => {
      let kept = 0;
      for (let index = 0; index < count; index += 1) {
        const socket = connect({ host: "127.0.0.1", port, localAddress });
        sockets.push(socket);
        socket.on("error", () => {});
        socket.write("GET / HTTP/1.1\r\nhost: x\r\n\r\n");
        if (await Promise.race([once(socket, "data"), once(socket, "close").then(() => undefined)])) kept += 1;
      }
      return kept;
    };
    assert.equal(await knock("127.0.0.2", CONNECTIONS_MAX + 5), allowed);
    if (allowed < CONNECTIONS_MAX) {
      assert.deepEqual([await knock("127.0.0.4", 5), await knock("127.0.0.5", 5)], [2, 2]);
      // Room that is given back can be taken again, up to one's share.
      for (const socket of sockets.splice(0, 9)) {
        socket.destroy();
        await once(socket, "close");
      }
      assert.ok((await knock("127.0.0.2", 5)) >= 1);
    }
    for (const socket of sockets) socket.destroy();
    server.closeAllConnections();
    server.close();
    await once(server, "close");
  }
});

/** Has a clock that a test moves on, and keeps what is logged. */
function createLoggingWorld() {
  const logLines: { from: string; why: string; count: number }[] = [];
  const time = { ms: 0 };
  const clock = { ...systemClock, monotonicMs: () => time.ms };
  return {
    told: logLines,
    time,
    clock,
    log: pino({}, { write: (line: string) => void logLines.push(JSON.parse(line)) }),
  };
}

/** Connections from addresses that no machine of a test has, as Node itself would take them in. */
function openFakeConnections(connectionsMax: number) {
  const world = createLoggingWorld();
  const server = createServer();
  limitConnections({ server }, { trustedProxies: ["2001:db8:99::/48"], connectionsMax, world });
  const emitConnection = (remoteAddress: string): Duplex => {
    const socket = new Duplex({ read: () => {}, write: (_chunk, _encoding, done) => done() });
    server.emit("connection", Object.assign(socket, { remoteAddress }));
    return socket;
  };
  const acceptedOf = (count: number, addressOf: (index: number) => string) =>
    Array.from({ length: count }, (_, index) => emitConnection(addressOf(index))).filter(({ destroyed }) => !destroyed);
  return { ...world, server, keptOf: acceptedOf };
}

test("12 who has a whole IPv6 site and comes from another of its networks each time gets a fifth, and others still their tenth", async () => {
  const { keptOf } = openFakeConnections(100);
  // Nobody is refused while half of all are free.
  assert.equal(keptOf(50, (index) => `2001:db8:1:${index.toString(16)}::1`).length, 50);
  assert.equal(keptOf(10, (index) => `2001:db8:1:f${index}::1`).length, 0);
  assert.equal(keptOf(12, () => "2001:db8:2:1::1").length, 10);
  const site = keptOf(12, (index) => `2001:db8:2:${index + 2}::1`);
  assert.equal(site.length, 10);
  // One that leaves makes room for one more of the same site, and only for one.
  site.pop()?.destroy();
  await new Promise(setImmediate);
  assert.equal(keptOf(5, () => "2001:db8:2:ff::1").length, 1);
  assert.equal(keptOf(12, () => "192.0.2.1").length, 10);
  assert.equal(keptOf(30, () => "2001:db8:99:1::1").length, 30, "a proxy of ours has no share");
});

test("106 an operator is told whose connections are refused and how many, once a minute", () => {
  const { keptOf, told, time } = openFakeConnections(20);
  keptOf(10, (index) => `192.0.2.${index}`);
  keptOf(500, () => "198.51.100.1");
  time.ms += 59_999;
  keptOf(300, () => "198.51.100.1");
  const [first, ...others] = told;
  assert.deepEqual([first?.from, first?.why, first?.count], ["198.51.100.1", "198.51.100.1 has its share of all", 1]);
  assert.deepEqual(others, []);
  time.ms += 1;
  keptOf(1, () => "198.51.100.1");
  assert.deepEqual([told.length, told[1]?.count], [2, 798]);
});

/** Resolves with what is answered; with nothing when the connection is closed instead. */
function readFirstChunk(socket: Socket): Promise<string> {
  return new Promise((resolve) => {
    const hear = (chunk?: unknown) => {
      socket.off("data", hear).off("close", hear);
      resolve(Buffer.isBuffer(chunk) ? chunk.toString() : "");
    };
    socket.on("data", hear).on("close", hear);
  });
}

test("12 where many networks took all connections together, a new caller takes the place of a quiet one, and nobody is cut off in a call", async () => {
  const [asked, mayAnswer] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const server = createServer((request, response) => {
    if (request.url === "/slow") asked.resolve();
    const isReady = request.url === "/slow" ? mayAnswer.promise : Promise.resolve();
    request.resume().once("end", () => void isReady.then(() => response.end("done")));
  });
  const world = createLoggingWorld();
  const bounded = limitConnections({ server }, { trustedProxies: [], connectionsMax: CONNECTIONS_MAX, world });
  server.on("request", (request, response) => void bounded.acquireSlot(request, response));
  server.listen(0, "0.0.0.0");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const sockets: Socket[] = [];
  const connectFrom = (text: string) => {
    const socket = connect({ host: "127.0.0.1", port, localAddress: `127.0.1.${sockets.length}` });
    sockets.push(socket.on("error", () => {}));
    socket.write(text);
    return socket;
  };
  const call = (path: string, more = "") => `GET ${path} HTTP/1.1\r\nhost: x\r\n${more}\r\n`;
  try {
    const worked = readFirstChunk(connectFrom(call("/slow")));
    await asked.promise;
    const used = connectFrom(call("/"));
    await readFirstChunk(used);
    for (let count = 0; count < CONNECTIONS_MAX * 4; count += 1) {
      connectFrom(
        count % 2 === 0 ? "GET / HTTP/1.1\r\nx: " : "POST / HTTP/1.1\r\nhost: x\r\ncontent-length: 9\r\n\r\n",
      );
      assert.match(await readFirstChunk(connectFrom(call("/", "connection: close\r\n"))), /done/);
      if (count % 5 > 0) continue;
      used.write(call("/"));
      assert.match(await readFirstChunk(used), /done/);
    }
    mayAnswer.resolve();
    assert.match(await worked, /done/);
    const openCount = await new Promise<number>((resolve) => server.getConnections((_, count) => resolve(count)));
    assert.ok(openCount <= CONNECTIONS_MAX, `${openCount} open`);
    assert.match(world.told[0]?.why ?? "", /a quiet one made room/);
  } finally {
    for (const socket of sockets) socket.destroy();
    server.closeAllConnections();
    server.close();
  }
});

test("12 of a flood of requests on one connection eight are worked on at once, in order, and others go on beside them", async () => {
  const { world } = await testApi();
  const api = await openTestApi(world.db);
  const arrived: string[] = [];
  const leave: (() => void)[] = [];
  // What nobody lets go is being worked on.
  api.server.get<{ Params: { name: string } }>("/work/:name", async ({ params }, reply) => {
    arrived.push(params.name);
    await new Promise<void>((resolve) => leave.push(resolve));
    return reply.send(params.name);
  });
  const base = await api.server.listen({ host: "127.0.0.1", port: 0 });
  const { port } = api.server.server.address() as AddressInfo;
  const names = Array.from({ length: PIPELINED_REQUESTS }, (_, index) => `${index}`);
  const socket = connect({ host: "127.0.0.1", port });
  let heard = "";
  socket.on("data", (chunk: Buffer) => {
    heard += chunk.toString("latin1");
  });
  socket.write(names.map((name) => `GET /work/${name} HTTP/1.1\r\nhost: x\r\n\r\n`).join(""));
  try {
    while (arrived.length < 8) assert.equal((await fetch(`${base}/healthz`)).status, 200);
    for (let polls = 0; polls < 3; polls += 1) assert.equal((await fetch(`${base}/healthz`)).status, 200);
    assert.deepEqual(arrived, names.slice(0, 8));
    for (let turn = 0; turn < PIPELINED_REQUESTS; turn += 1) {
      while (leave.length === 0) await once(socket, "data");
      assert.ok(leave.length <= 8);
      leave.shift()?.();
    }
    while ((heard.match(/HTTP\/1\.1 200/g) ?? []).length < PIPELINED_REQUESTS) await once(socket, "data");
    assert.deepEqual([arrived, heard.match(/(?<=\r\n\r\n)\d+/g)], [names, names]);
  } finally {
    socket.destroy();
    for (const go of leave) go();
    await api.server.close();
  }
});

/** Slow callers in a process of their own; `until` resolves when what they tell is so. */
function startSlowClients(options: SlowClientOptions) {
  const child = fork(new URL("../flood/slowClientProcess.ts", import.meta.url));
  child.send(options);
  return {
    async until(isSo: (told: SlowClientReport) => boolean): Promise<SlowClientReport> {
      for (;;) {
        const [told] = (await once(child, "message")) as [SlowClientReport];
        if (isSo(told)) return told;
      }
    },
    async stop(): Promise<void> {
      child.disconnect();
      await once(child, "exit");
    },
  };
}

function heldBytes(): number {
  const { heapUsed, arrayBuffers } = process.memoryUsage();
  return heapUsed + arrayBuffers;
}

test("12 a crowd that drips heads and bodies keeps nobody waiting, fills no memory, and is sent away in the envelope", async () => {
  const api = await testApi();
  await api.server.listen({ host: "127.0.0.1", port: 0 });
  const { port } = api.server.server.address() as AddressInfo;
  // Shorter than in service, where the same clock of Node's tells ten and fifteen seconds.
  Object.assign(api.server.server, { headersTimeout: 2_500, requestTimeout: 3_000 });
  const { apiKey } = await api.openMerchant();
  const heldFirst = heldBytes();
  const common = { port, connections: SLOW_CONNECTIONS, intervalMs: 250, reconnects: false };
  const crowd = (["head", "body"] as const satisfies SlowAttack[]).map((attack) =>
    startSlowClients({ ...common, attack }),
  );
  await Promise.all(crowd.map((each) => each.until(({ open, ended }) => open + ended.length > SLOW_CONNECTIONS / 2)));
  const fared = await callRepeatedly(CALLS_MS, { url: `http://127.0.0.1:${port}`, apiKeys: [apiKey] });
  assert.deepEqual(fared.failures, []);
  assert.ok(fared.tookMs.length > 0);
  const grown = heldBytes() - heldFirst;
  assert.ok(grown < HELD_BYTES_MAX, `${grown} bytes`);
  const ended = await Promise.all(
    crowd.map((each) =>
      each.until((told) => told.open === 0 && told.ended.reduce((sum, [, n]) => sum + n, 0) === SLOW_CONNECTIONS),
    ),
  );
  await Promise.all(crowd.map((each) => each.stop()));
  // What still comes in while a connection is closed can take its last answer along.
  for (const { ended: statuses } of ended) {
    assert.ok(
      statuses.every(([status]) => status === 400 || status === 0),
      JSON.stringify(statuses),
    );
    assert.ok((new Map(statuses).get(400) ?? 0) > 0, JSON.stringify(statuses));
  }
});
