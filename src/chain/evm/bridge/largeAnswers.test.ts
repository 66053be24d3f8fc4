import { deepEqual, equal, ok, rejects } from "node:assert/strict";
import { once } from "node:events";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { after, before, describe, test } from "node:test";
import { setImmediate as nextTurn } from "node:timers/promises";
import { Pool } from "undici";
import { openLargeAnswers } from "./largeAnswers.ts";

const MEGABYTE = 1_000_000;
const CHUNK = Buffer.alloc(MEGABYTE / 4, "x");

describe("reading large answers", () => {
  let server: Server;
  let pool: Pool;
  let sent = 0;
  before(async () => {
    server = createServer((request, response) => {
      const megabytes = Number(request.url?.slice(1));
      let left = megabytes * 4;
      const send = () => {
        while (left > 0) {
          left -= 1;
          sent += CHUNK.length;
          if (!response.write(CHUNK)) return void response.once("drain", send);
        }
        response.end();
      };
      send();
    });
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    pool = new Pool(`http://127.0.0.1:${(server.address() as AddressInfo).port}`, { connections: 10 });
  });
  after(async () => {
    await pool.destroy();
    server.closeAllConnections();
    server.close();
  });

  const reader = (limits?: { smallMs?: number; largeMs?: number }) => {
    const answers = openLargeAnswers(limits);
    return (megabytes: number) =>
      answers.read(async (signal) => {
        const { statusCode: status, body } = await pool.request({ method: "GET", path: `/${megabytes}`, signal });
        return { status, body };
      });
  };

  test("nine answers of ten megabytes at once all arrive, one at a time, and small ones do not wait for them", async () => {
    const read = reader();
    let inMemory = 0;
    let most = 0;
    const large = Array.from({ length: 9 }, async () => {
      const { text, release } = await read(10);
      inMemory += 1;
      most = Math.max(most, inMemory);
      await nextTurn();
      inMemory -= 1;
      release?.();
      return text.length;
    });
    const small = await read(1);
    equal(small.release, undefined);
    deepEqual(new Set(await Promise.all(large)), new Set([10 * MEGABYTE]));
    equal(most, 1);
  });

  test("an answer that waits for its turn is not sent on, and its time does not run", async () => {
    const read = reader({ smallMs: 2_000, largeMs: 60_000 });
    const first = await read(3);
    const before = sent;
    const second = read(20);
    while (sent === before) await nextTurn();
    for (const until = performance.now() + 2_500; performance.now() < until;) await nextTurn();
    ok(sent - before < 15 * MEGABYTE, `${sent - before} bytes were sent meanwhile`);
    first.release?.();
    const { text, release } = await second;
    equal(text.length, 20 * MEGABYTE);
    release?.();
  });

  test("an answer that is longer than any, or that does not come in its time, ends its turn", async () => {
    const read = reader({ smallMs: 10_000, largeMs: 10_000 });
    await rejects(read(33), SyntaxError);
    const { text, release } = await read(2);
    equal(text.length, 2 * MEGABYTE);
    release?.();
    const stuck = createServer(() => undefined);
    stuck.listen(0, "127.0.0.1");
    await once(stuck, "listening");
    const other = new Pool(`http://127.0.0.1:${(stuck.address() as AddressInfo).port}`);
    const answers = openLargeAnswers({ smallMs: 50 });
    const request = async (signal: AbortSignal) => {
      const { statusCode: status, body } = await other.request({ method: "GET", path: "/", signal });
      return { status, body };
    };
    await rejects(answers.read(request), { name: "TimeoutError" });
    await other.destroy();
    stuck.closeAllConnections();
    stuck.close();
  });
});
