import assert from "node:assert/strict";
import { fork } from "node:child_process";
import { EventEmitter, once } from "node:events";
import { createServer, type Server } from "node:http";
import { connect, type AddressInfo, type Socket } from "node:net";
import { test } from "node:test";
import { setImmediate } from "node:timers/promises";
import { pino } from "pino";
import { limitConnections } from "../../src/http/wire/limitConnections.ts";
import { systemClock } from "../../src/kernel/clock.ts";
import type { SlowClientReport } from "../flood/slowClientProcess.ts";
import type { SlowAttack, SlowClientOptions } from "../flood/slowClients.ts";
import { callRepeatedly } from "../flood/callRepeatedly.ts";
import { openTestApi, testApi } from "../support/api.ts";

// Many clients at once that hold their connections open.

const CONNECTIONS_MAX = 20;
const PIPELINED_REQUESTS = 100;
const SLOW_CONNECTIONS = 800;
/** Memory of all connections, plus garbage that is not collected yet. */
const HELD_BYTES_MAX = 60_000_000;
const CALLS_MS = 1_000;

/** A world with a manual clock and captured log lines. */
function createLoggingWorld() {
  const logLines: { from: string; count: number }[] = [];
  const time = { ms: 0 };
  const clock = { ...systemClock, monotonicMs: () => time.ms };
  return { logLines, time, clock, log: pino({}, { write: (line: string) => void logLines.push(JSON.parse(line)) }) };
}

test("a connection above the maximum is closed, and the log counts closed connections once a minute", async () => {
  const world = createLoggingWorld();
  const server = createServer((_request, response) => response.end());
  limitConnections({ server }, { connectionsMax: CONNECTIONS_MAX, world });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const sockets: Socket[] = [];
  /** Opens a connection; resolves with whether it gets an answer. */
  const isAccepted = async (): Promise<boolean> => {
    const socket = connect({ host: "127.0.0.1", port });
    sockets.push(socket);
    // A connection that closes with an unread request may end with a reset.
    socket.on("error", () => {});
    socket.write("GET / HTTP/1.1\r\nhost: x\r\n\r\n");
    return await new Promise((resolve) => {
      socket.once("data", () => resolve(true));
      socket.once("close", () => resolve(false));
    });
  };
  try {
    for (let count = 0; count < CONNECTIONS_MAX; count += 1) assert.equal(await isAccepted(), true);
    for (let count = 0; count < 5; count += 1) assert.equal(await isAccepted(), false);
    world.time.ms += 59_999;
    assert.equal(await isAccepted(), false);
    assert.deepEqual(
      world.logLines.map(({ from, count }) => [from, count]),
      [["127.0.0.1", 1]],
    );
    world.time.ms += 1;
    assert.equal(await isAccepted(), false);
    assert.deepEqual([world.logLines.length, world.logLines[1]?.count], [2, 6]);
    sockets[0]?.destroy();
    while ((await connectionCount(server)) >= CONNECTIONS_MAX) await setImmediate();
    assert.equal(await isAccepted(), true);
  } finally {
    for (const socket of sockets) socket.destroy();
    server.closeAllConnections();
    server.close();
    await once(server, "close");
  }
});

async function connectionCount(server: Server): Promise<number> {
  return await new Promise((resolve) => server.getConnections((_, count) => resolve(count)));
}

test("one connection with many pipelined requests has eight at work at once, in order; other connections continue", async () => {
  const { world } = await testApi();
  const api = await openTestApi(world.db);
  const arrived: string[] = [];
  const releases: (() => void)[] = [];
  const arrivals = new EventEmitter();
  // Each request stays active until the test releases it.
  api.server.get<{ Params: { name: string } }>("/work/:name", async ({ params }, reply) => {
    arrived.push(params.name);
    await new Promise<void>((resolve) => {
      releases.push(resolve);
      arrivals.emit("request");
    });
    return reply.send(params.name);
  });
  const base = await api.server.listen({ host: "127.0.0.1", port: 0 });
  const { port } = api.server.server.address() as AddressInfo;
  const names = Array.from({ length: PIPELINED_REQUESTS }, (_, index) => `${index}`);
  const socket = connect({ host: "127.0.0.1", port });
  let received = "";
  socket.on("data", (chunk: Buffer) => {
    received += chunk.toString("latin1");
  });
  socket.write(names.map((name) => `GET /work/${name} HTTP/1.1\r\nhost: x\r\n\r\n`).join(""));
  try {
    while (arrived.length < 8) assert.equal((await fetch(`${base}/healthz`)).status, 200);
    for (let polls = 0; polls < 3; polls += 1) assert.equal((await fetch(`${base}/healthz`)).status, 200);
    assert.deepEqual(arrived, names.slice(0, 8));
    for (let turn = 0; turn < PIPELINED_REQUESTS; turn += 1) {
      while (releases.length === 0) await once(arrivals, "request");
      assert.ok(releases.length <= 8);
      releases.shift()?.();
    }
    while ((received.match(/HTTP\/1\.1 200/g) ?? []).length < PIPELINED_REQUESTS) await once(socket, "data");
    assert.deepEqual([arrived, received.match(/(?<=\r\n\r\n)\d+/g)], [names, names]);
  } finally {
    socket.destroy();
    for (const release of releases) release();
    await api.server.close();
  }
});

/** Starts slow clients in their own process; `until` resolves when a report matches. */
function startSlowClients(options: SlowClientOptions) {
  const child = fork(new URL("../flood/slowClientProcess.ts", import.meta.url));
  child.send(options);
  return {
    async until(matches: (report: SlowClientReport) => boolean): Promise<SlowClientReport> {
      for (;;) {
        const [report] = (await once(child, "message")) as [SlowClientReport];
        if (matches(report)) return report;
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

test("many slow senders of heads and bodies delay no call, use bounded memory and get 400 in the envelope", async (t) => {
  const api = await testApi();
  await api.server.listen({ host: "127.0.0.1", port: 0 });
  const { port } = api.server.server.address() as AddressInfo;
  // Production uses 10 and 15 seconds with the same Node.js timers.
  Object.assign(api.server.server, { headersTimeout: 2_500, requestTimeout: 3_000 });
  const { apiKey } = await api.openMerchant();
  const heldBefore = heldBytes();
  const common = { port, connections: SLOW_CONNECTIONS, intervalMs: 250, reconnects: false };
  const clientGroups = (["head", "body"] as const satisfies SlowAttack[]).map((attack) =>
    startSlowClients({ ...common, attack }),
  );
  // A failed test would leave them behind, and they keep this process from ending.
  t.after(() => Promise.all(clientGroups.map((group) => group.stop())));
  await Promise.all(
    clientGroups.map((group) => group.until(({ open, ended }) => open + ended.length > SLOW_CONNECTIONS / 2)),
  );
  const calls = await callRepeatedly(CALLS_MS, { url: `http://127.0.0.1:${port}`, apiKeys: [apiKey] });
  assert.deepEqual(calls.failures, []);
  assert.ok(calls.tookMs.length > 0);
  const grown = heldBytes() - heldBefore;
  assert.ok(grown < HELD_BYTES_MAX, `${grown} bytes`);
  const ended = await Promise.all(
    clientGroups.map((group) =>
      group.until(({ open, ended }) => open === 0 && ended.reduce((sum, [, n]) => sum + n, 0) === SLOW_CONNECTIONS),
    ),
  );
  // Data that arrives during a close can lose the last answer.
  for (const { ended: statuses } of ended) {
    assert.ok(
      statuses.every(([status]) => status === 400 || status === 0),
      JSON.stringify(statuses),
    );
    assert.ok((new Map(statuses).get(400) ?? 0) > 0, JSON.stringify(statuses));
  }
});
