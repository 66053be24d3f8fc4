import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { headerOf, type FakeBlock, type FakeChain } from "./fakeChain.ts";

// A JSON-RPC provider over real sockets, with the limits and habits of commercial products. It never lies: an answer is
// complete and true for its node, or visibly broken. Lying providers use faultyRpcProxy.ts.

/** An error of a refusal. The HTTP status is 200 unless it has another. */
export type RpcError = { code: number; message: string; data?: unknown; status?: number };

/** A range above the limit, and the last block that the limit would have allowed. */
export type ExceededRange = { from: number; to: number; lastAllowed: number };
type BuildRpcError = (range: ExceededRange) => RpcError;

export type ProviderProfile = {
  /**
   * The limits of eth_getLogs: blocks per range, and logs and bytes per answer, also for one block. The provider
   * refuses larger requests.
   */
  blocks?: { max: number; buildError: BuildRpcError };
  results?: { max: number; buildError: BuildRpcError };
  bytes?: { max: number; buildError: BuildRpcError };
  /** A range with more blocks or bytes never succeeds: the gateway times out, or the connection ends half-way. */
  gatewayTimeout?: { blocks: number; status: number };
  truncatesAbove?: { bytes: number };
  /** The provider refuses one in `oneIn` requests at random because of the rate, or cuts its answer. */
  rate?: { oneIn: number; error: RpcError; retryAfterS?: number };
  truncates?: { oneIn: number };
  /** The delay of each request. */
  delayMs?: number;
  /** The nodes behind one name, each with its lag in blocks. One of them answers each request. */
  nodeLags?: readonly number[];
  /** How many blocks the node's safe and final blocks lie behind its head. */
  finality?: { safe: number; final: number };
  /** The answer to a range that ends beyond the node's head. */
  beyondHead?: "empty" | RpcError;
  /** How the provider handles batches. `callsMax` is the largest batch. */
  batches?: { callsMax?: number; error?: RpcError; isReordered?: boolean; logsError?: RpcError };
  /** The rejected methods: all log methods, the receipts of a block alone, or everything. */
  rejects?: { methods: "logs" | "receipts" | "all"; error: RpcError };
};

export type FakeProvider = {
  readonly url: string;
  profile: ProviderProfile;
  /** Counts of HTTP requests, of log range requests, and of answered log range requests. */
  readonly counts: { requests: number; rangeRequests: number; rangeReplies: number };
  close(): Promise<void>;
};

type RpcRequest = { id: unknown; method: string; params: readonly unknown[] };
type RpcReply = { result: unknown } | { error: RpcError };
/** One node's view of the chain. */
type NodeView = { chain: FakeChain; profile: ProviderProfile; head: number };

/** Opens a provider of `chain` on its own port. `seed` picks the node for each request. */
export async function openFakeProvider(
  chain: FakeChain,
  profile: ProviderProfile = {},
  seed = 1,
): Promise<FakeProvider> {
  const server = createServer((request, response) => void handleRequest(request, response));
  await new Promise<void>((resolve) => {
    server.listen(0, "127.0.0.1", resolve);
  });
  const { port } = server.address() as AddressInfo;
  const counts = { requests: 0, rangeRequests: 0, rangeReplies: 0 };
  const random = createSeededRandom(seed);
  const provider: FakeProvider = {
    url: `http://127.0.0.1:${port}`,
    profile,
    counts,
    close: () =>
      new Promise((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  };

  async function handleRequest(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const batch = JSON.parse(await readBody(request)) as RpcRequest | RpcRequest[];
    const { profile } = provider;
    counts.requests += 1;
    if (profile.delayMs !== undefined) await new Promise((resolve) => setTimeout(resolve, profile.delayMs));
    const { rate, nodeLags = [0] } = profile;
    if (rate !== undefined && random() * rate.oneIn < 1) {
      const { retryAfterS, error } = rate;
      const headers = retryAfterS === undefined ? {} : { "retry-after": String(retryAfterS) };
      response.writeHead(error.status ?? 429, headers).end(JSON.stringify({ error }));
      return;
    }
    const behind = nodeLags[Math.floor(random() * nodeLags.length)] ?? 0;
    const node = { chain, profile, head: Math.max(chain.head.number - behind, 0) };
    const { truncates, truncatesAbove } = profile;
    const { status, body } = replyToBatch(node, batch);
    const isCut = random() * (truncates?.oneIn ?? Infinity) < 1 || body.length > (truncatesAbove?.bytes ?? Infinity);
    response.writeHead(status, { "content-type": "application/json", "content-length": Buffer.byteLength(body) });
    if (isCut) response.write(body.slice(0, Math.floor(body.length / 2)), () => response.destroy());
    else response.end(body);
  }

  function replyToBatch(node: NodeView, batch: RpcRequest | RpcRequest[]): HttpReply {
    if (!Array.isArray(batch)) return toHttpReply(replyToCall(node, batch), batch.id);
    const { callsMax = Infinity, error, isReordered, logsError } = node.profile.batches ?? {};
    if (error !== undefined && batch.length > callsMax) return toHttpReply({ error }, null);
    const answers = batch.map((message) => {
      const answer =
        logsError !== undefined && message.method === "eth_getLogs" ? { error: logsError } : replyToCall(node, message);
      return { jsonrpc: "2.0", id: message.id, ...answer };
    });
    return { status: 200, body: JSON.stringify(isReordered ? answers.toReversed() : answers) };
  }

  function replyToCall(node: NodeView, { method, params }: RpcRequest): RpcReply {
    const { rejects } = node.profile;
    const isLogs = method === "eth_getLogs";
    const isReceipts = method === "eth_getBlockReceipts";
    const isRefused = { logs: isLogs || isReceipts, receipts: isReceipts, all: true };
    if (rejects !== undefined && isRefused[rejects.methods]) return { error: rejects.error };
    if (!isLogs) return { result: readChain(node, method, params) };
    const [filter] = params as readonly [Filter];
    if ("blockHash" in filter) return logsOfBlock(node, filter);
    counts.rangeRequests += 1;
    const answer = logsOfRange(node, filter);
    if ("result" in answer) counts.rangeReplies += 1;
    return answer;
  }

  return provider;
}

type Filter = { address: readonly string[]; topics: readonly (string | readonly string[] | null)[] } & (
  | { blockHash: string }
  | { fromBlock: string; toBlock: string }
);

function readChain(node: NodeView, method: string, [first]: readonly unknown[]): unknown {
  const { chain, head } = node;
  switch (method) {
    case "eth_chainId":
      return `0x${chain.chainId.toString(16)}`;
    case "eth_getBlockByNumber":
      return headerOrNull(chain.blocks[resolveBlockNumber(String(first), node)], head);
    case "eth_getBlockByHash":
      return headerOrNull(chain.blockOf(String(first)), head);
    case "eth_getTransactionReceipt": {
      const receipt = chain.receiptOf(String(first));
      return receipt !== undefined && Number(receipt["blockNumber"]) <= head ? receipt : null;
    }
    case "eth_getBlockReceipts": {
      const block = chain.blockOf(String(first)) ?? chain.blocks[resolveBlockNumber(String(first), node)];
      if (block === undefined || block.number > head) return null;
      return transactionsIn(block).map((chainTx) => chain.receiptOf(chainTx));
    }
    default:
      throw new Error(`${method} is not supported by the fake provider`);
  }
}

const FINALITY = { safe: 32, final: 64 };

function resolveBlockNumber(text: string, { head, profile }: NodeView): number {
  const { safe, final } = profile.finality ?? FINALITY;
  const tags = new Map([
    ["latest", 0],
    ["safe", safe],
    ["finalized", final],
  ]);
  const behind = tags.get(text);
  return behind === undefined ? Number(text) : Math.max(head - behind, 0);
}

function headerOrNull(block: FakeBlock | undefined, head: number): unknown {
  return block === undefined || block.number > head
    ? null
    : { ...headerOf(block), transactions: transactionsIn(block) };
}

function transactionsIn({ logs }: FakeBlock): string[] {
  return [...new Set(logs.map((log) => String(log["transactionHash"])))];
}

function logsOfBlock({ chain, profile, head }: NodeView, filter: Filter & { blockHash: string }): RpcReply {
  const block = chain.blockOf(filter.blockHash);
  if (block === undefined || block.number > head) return { error: { code: -32000, message: "unknown block" } };
  const { results, bytes } = profile;
  const found = block.logs.filter((log) => matchesFilter(log, filter));
  const tooMuch = { from: block.number, to: block.number, lastAllowed: block.number };
  if (results !== undefined && found.length > results.max) return { error: results.buildError(tooMuch) };
  if (bytes !== undefined && JSON.stringify(found).length > bytes.max) return { error: bytes.buildError(tooMuch) };
  return { result: found };
}

function logsOfRange(
  { chain, profile, head }: NodeView,
  filter: Filter & { fromBlock: string; toBlock: string },
): RpcReply {
  const [from, to] = [Number(filter.fromBlock), Number(filter.toBlock)];
  const { blocks, results, bytes, gatewayTimeout, beyondHead = "empty" } = profile;
  if (gatewayTimeout !== undefined && to - from + 1 > gatewayTimeout.blocks)
    return { error: { code: -32000, message: "the gateway gave up", status: gatewayTimeout.status } };
  if (blocks !== undefined && to - from + 1 > blocks.max)
    return { error: blocks.buildError({ from, to, lastAllowed: from + blocks.max - 1 }) };
  if (to > head && beyondHead !== "empty") return { error: beyondHead };
  const found: unknown[] = [];
  let size = 0;
  for (const block of chain.blocks.slice(from, Math.min(to, head) + 1)) {
    for (const log of block.logs) {
      if (!matchesFilter(log, filter)) continue;
      found.push(log);
      size += JSON.stringify(log).length;
    }
    const tooMuch = { from, to, lastAllowed: Math.max(block.number - 1, from) };
    if (results !== undefined && found.length > results.max) return { error: results.buildError(tooMuch) };
    if (bytes !== undefined && size > bytes.max) return { error: bytes.buildError(tooMuch) };
  }
  return { result: found };
}

function matchesFilter(log: { address: string; topics: readonly string[] }, { address, topics }: Filter): boolean {
  if (!address.includes(log.address)) return false;
  return topics.every((expected, place) => {
    const topic = log.topics[place];
    return expected === null || (typeof expected === "string" ? expected === topic : expected.includes(topic ?? ""));
  });
}

type HttpReply = { status: number; body: string };

function toHttpReply(answer: RpcReply, id: unknown): HttpReply {
  if ("result" in answer) return { status: 200, body: JSON.stringify({ jsonrpc: "2.0", id, ...answer }) };
  const { status = 200, ...error } = answer.error;
  if (status >= 500) return { status, body: "<html>the gateway gave up</html>" };
  return { status, body: JSON.stringify({ jsonrpc: "2.0", id, error }) };
}

/** Mulberry32: small, and deterministic for each seed. */
function createSeededRandom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

async function readBody(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString("utf8");
}
