import assert from "node:assert/strict";
import { fork } from "node:child_process";
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { before, test } from "node:test";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { gzipSync } from "node:zlib";
import { testApi, VERSION } from "../support/api.ts";
import type { SendOrder } from "./slowSender.ts";

// Refused bodies do not fill the service's memory.

const HELD_BYTES_MAX = 20_000_000;
/** Includes garbage that is not collected yet. */
const ALLOCATED_BYTES_MAX = 80_000_000;
const SAMPLE_INTERVAL_MS = 5;

let port: number;
let head: string;

setFlagsFromString("--expose-gc");
const collect = runInNewContext("gc") as () => void;

function heldBytes(): number {
  collect();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}

/**
 * What V8 and the buffers outside of it take. The resident memory of the process says less: the compiler of the embedded
 * database takes and returns hundreds of megabytes while the test runs.
 */
function allocatedBytes(): number {
  const { heapTotal, external } = process.memoryUsage();
  return heapTotal + external;
}

before(async () => {
  const api = await testApi();
  await api.server.listen({ host: "127.0.0.1", port: 0 });
  port = (api.server.server.address() as AddressInfo).port;
  const merchant = await api.openMerchant();
  const authorization = String(merchant.headers["authorization"]);
  head = `POST /api/v1/intents HTTP/1.1\r\nhost: x\r\nauthorization: ${authorization}\r\nservice-version: ${VERSION}\r\ncontent-type: application/json\r\nconnection: close\r\n`;
});
async function send(order: Omit<SendOrder, "port">): Promise<string[]> {
  const child = fork(new URL("slowSender.ts", import.meta.url));
  const exited = once(child, "exit");
  child.send({ port, ...order });
  const [sent] = (await once(child, "message")) as [string[]];
  child.disconnect();
  await exited;
  return sent;
}

test("D16 endless bodies and gzip bombs use bounded memory", { timeout: 120_000 }, async () => {
  const block = Buffer.alloc(0x100000);
  const endless = {
    head: `${head}transfer-encoding: chunked\r\n\r\n`,
    chunk: Buffer.concat([Buffer.from("100000\r\n"), block, Buffer.from("\r\n")]).toString("base64"),
    chunks: 1_000_000,
  };
  // A gigabyte of spaces in pieces; the pieces in sequence form one gzip file.
  const piece = gzipSync(Buffer.alloc(64 * 0x100000 - 0x10000, " "), { level: 9 });
  const zipped = `${head}content-encoding: gzip\r\ncontent-length: `;
  const small = { head: `${zipped}${piece.length}\r\n\r\n`, chunk: piece.toString("base64"), chunks: 1 };
  const large = { head: `${zipped}${piece.length * 16}\r\n\r\n`, chunk: piece.toString("base64"), chunks: 16 };
  assert.ok(piece.length <= 65_536, `${piece.length} bytes`);

  // The first upload allocates the buffers that later ones reuse.
  await send({ ...endless, connections: 1 });
  const before = { held: heldBytes(), allocated: allocatedBytes() };
  let allocatedMax = before.allocated;
  const sampling = setInterval(() => {
    allocatedMax = Math.max(allocatedMax, allocatedBytes());
  }, SAMPLE_INTERVAL_MS);
  const sent = [
    await send({ ...endless, connections: 3 }),
    await send({ ...large, connections: 2 }),
    await send({ ...small, connections: 2 }),
  ];
  clearInterval(sampling);
  assert.deepEqual(
    sent.map((each) => [...new Set(each)]),
    [["HTTP/1.1 413"], ["HTTP/1.1 413"], ["HTTP/1.1 400"]],
  );
  const grown = { held: heldBytes() - before.held, allocated: allocatedMax - before.allocated };
  assert.ok(grown.held < HELD_BYTES_MAX && grown.allocated < ALLOCATED_BYTES_MAX, JSON.stringify(grown));
});
