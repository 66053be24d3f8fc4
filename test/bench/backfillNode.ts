import { createHash } from "node:crypto";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

// A fake node with precomputed answers, which cost almost nothing to serve.

export const FIRST_BLOCK = 1_001;
export const LAST_BLOCK = 3_000;
export const RANGE_BLOCKS = 100;
export const INBOXES = 100_000;
export const TOKEN = `0x${"c0".repeat(20)}`;
const TRANSFERS = 50;
/** Enough blocks above LAST_BLOCK that all of the blocks are read by ranges. */
const HEAD_ABOVE = 64;
const TRANSFER = "0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef";

export function hashOf(text: string): string {
  return `0x${createHash("sha256").update(text).digest("hex")}`;
}

export function inboxAt(index: number): string {
  return hashOf(`inbox ${index}`).slice(0, 42);
}

const hex = (value: number) => `0x${value.toString(16)}`;
const word = (address: string) => `0x${"0".repeat(24)}${address.slice(2)}`;

function logsOf(block: number): object[] {
  return Array.from({ length: TRANSFERS }, (_, index) => {
    // One of the fifty transfers pays an inbox.
    const to = index === 25 ? inboxAt((block - FIRST_BLOCK) * TRANSFERS) : hashOf(`to ${block} ${index}`).slice(0, 42);
    return {
      address: TOKEN,
      topics: [TRANSFER, word(hashOf(`from ${block} ${index}`).slice(0, 42)), word(to)],
      data: `0x${(1_000_000 + index).toString(16).padStart(64, "0")}`,
      blockHash: hashOf(`block ${block}`),
      blockNumber: hex(block),
      blockTimestamp: hex(1_700_000_000 + block),
      transactionHash: hashOf(`tx ${block} ${index}`),
      transactionIndex: hex(index),
      logIndex: hex(index),
      removed: false,
    };
  });
}

function logsBetween(from: number, to: number): object[] {
  const [first, last] = [Math.max(from, FIRST_BLOCK), Math.min(to, LAST_BLOCK)];
  return Array.from({ length: Math.max(0, last - first + 1) }, (_, index) => logsOf(first + index)).flat();
}

function blockOf(number: number): object {
  return {
    number: hex(number),
    hash: hashOf(`block ${number}`),
    parentHash: hashOf(`block ${number - 1}`),
    timestamp: hex(1_700_000_000 + number),
  };
}

function receiptOf(locations: ReadonlyMap<string, [block: number, index: number]>, chainTx: string): object | null {
  const location = locations.get(chainTx);
  if (!location) return null;
  const [block, index] = location;
  const blockHash = hashOf(`block ${block}`);
  const logs = logsOf(block).slice(index, index + 1);
  return { transactionHash: chainTx, blockNumber: hex(block), blockHash, status: "0x1", gasUsed: "0x5208", logs };
}

function serve(): void {
  let head = FIRST_BLOCK - 1;
  const ranges = new Map<number, string>();
  const locations = new Map<string, [number, number]>();
  for (let from = FIRST_BLOCK; from <= LAST_BLOCK; from += RANGE_BLOCKS) {
    const logs: object[] = [];
    for (let block = from; block < from + RANGE_BLOCKS; block += 1) {
      logs.push(...logsOf(block));
      locations.set(hashOf(`tx ${block} 25`), [block, 25]);
    }
    ranges.set(from, JSON.stringify(logs));
  }
  const answer = ({ id, method, params }: { id: number; method: string; params: never[] }): string => {
    const result = (value: unknown) => JSON.stringify({ jsonrpc: "2.0", id, result: value });
    const [first] = params as unknown[];
    switch (method) {
      case "eth_chainId":
        return result(hex(31_337));
      case "eth_getBlockByNumber":
        return result(
          blockOf(first === "latest" ? head : first === "safe" || first === "finalized" ? 900 : Number(first)),
        );
      case "eth_getTransactionReceipt":
        return result(receiptOf(locations, String(first)));
      case "eth_getLogs": {
        const { fromBlock, toBlock } = first as { fromBlock: string; toBlock: string };
        const from = Number(fromBlock);
        if (Number(toBlock) - from >= RANGE_BLOCKS) {
          return JSON.stringify({ jsonrpc: "2.0", id, error: { code: -32_000, message: "block range is too wide" } });
        }
        const isPrepared = Number(toBlock) === from + RANGE_BLOCKS - 1;
        const prepared = isPrepared ? ranges.get(from) : undefined;
        return `{"jsonrpc":"2.0","id":${id},"result":${prepared ?? JSON.stringify(logsBetween(from, Number(toBlock)))}}`;
      }
      default:
        return JSON.stringify({ jsonrpc: "2.0", id, error: { code: -32_601, message: "method not found" } });
    }
  };
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      const body = JSON.parse(Buffer.concat(chunks).toString());
      response.end(Array.isArray(body) ? `[${body.map(answer).join(",")}]` : answer(body));
    });
  });
  process.on("message", (phase) => {
    head = phase === "grow" ? LAST_BLOCK + HEAD_ABOVE : FIRST_BLOCK - 1;
    process.send?.(head);
  });
  server.listen(0, "127.0.0.1", () => process.send?.((server.address() as AddressInfo).port));
}

if (process.argv[2] === "serve") serve();
