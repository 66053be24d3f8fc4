import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { headerOf, type FakeBlock, type FakeChain } from "./fakeChain.ts";

// A provider of JSON-RPC over real sockets, with the limits and habits of the products that people rent. It never lies: what it answers is
// whole and true for the node that answered, or it is visibly broken. Those that lie stand in liar.ts.

/** What a refusal says; with HTTP 200 unless it has a status of its own. */
export type Refusal = { code: number; message: string; data?: unknown; status?: number };

/** A range that is too much, and the last block to which it would not have been. */
export type TooMuch = { from: number; to: number; fits: number };
type Refuse = (asked: TooMuch) => Refusal;

export type Habits = {
  /** The most of an eth_getLogs: blocks of a range, and logs and bytes of the answer, also of one block. Beyond it the question is refused. */
  blocks?: { most: number; refuse: Refuse };
  results?: { most: number; refuse: Refuse };
  bytes?: { most: number; refuse: Refuse };
  /** A range with more blocks or bytes never gets its answer: the gateway gives up, or the connection ends half-way. */
  givesUp?: { blocks: number; status: number };
  cutsAbove?: { bytes: number };
  /** One request of so many, by chance, is refused because of the rate; or its answer is cut. */
  rate?: { of: number; refuse: Refusal; retryAfterS?: number };
  cuts?: { of: number };
  /** Each request waits so long. */
  slowMs?: number;
  /** Nodes behind the one name, each so many blocks behind; one of them answers each request. */
  nodes?: readonly number[];
  /** How far behind its head a node calls blocks safe, and final. */
  finality?: { safe: number; final: number };
  /** What a node says of a range that ends beyond its head. */
  beyondHead?: "empty" | Refusal;
  /** How it takes several calls in one request. `calls`: the most of them. */
  batches?: { calls?: number; refuse?: Refusal; isReordered?: boolean; withoutLogs?: Refusal };
  /** Everything that tells of logs, or the receipts of a block alone, or everything. */
  refuses?: { what: "logs" | "receipts" | "all"; refuse: Refusal };
};

export type FakeProvider = {
  readonly url: string;
  habits: Habits;
  /** HTTP requests, those that asked for logs of a range, and how many of these were answered. */
  readonly counts: { requests: number; ranges: number; rangesAnswered: number };
  close(): Promise<void>;
};

type Message = { id: unknown; method: string; params: readonly unknown[] };
type Answer = { result: unknown } | { error: Refusal };
/** What one node answers of the chain. */
type Node = { chain: FakeChain; habits: Habits; head: number };

/** Opens a provider of `chain` on a port of its own. `seed` picks the nodes that answer. */
export async function openFakeProvider(chain: FakeChain, habits: Habits = {}, seed = 1): Promise<FakeProvider> {
  const server = createServer((request, response) => void answerTo(request, response));
  await new Promise<void>((resolve) => {
    server.listen(0, "127.0.0.1", resolve);
  });
  const { port } = server.address() as AddressInfo;
  const counts = { requests: 0, ranges: 0, rangesAnswered: 0 };
  const random = randomOf(seed);
  const provider: FakeProvider = {
    url: `http://127.0.0.1:${port}`,
    habits,
    counts,
    close: () =>
      new Promise((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  };

  async function answerTo(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const asked = JSON.parse(await bodyOf(request)) as Message | Message[];
    const { habits } = provider;
    counts.requests += 1;
    if (habits.slowMs !== undefined) await new Promise((resolve) => setTimeout(resolve, habits.slowMs));
    const { rate, nodes = [0] } = habits;
    if (rate !== undefined && random() * rate.of < 1) {
      const { retryAfterS, refuse } = rate;
      const headers = retryAfterS === undefined ? {} : { "retry-after": String(retryAfterS) };
      response.writeHead(refuse.status ?? 429, headers).end(JSON.stringify({ error: refuse }));
      return;
    }
    const behind = nodes[Math.floor(random() * nodes.length)] ?? 0;
    const node = { chain, habits, head: Math.max(chain.head.number - behind, 0) };
    const { cuts, cutsAbove } = habits;
    const { status, body } = answerAll(node, asked);
    const isCut = random() * (cuts?.of ?? Infinity) < 1 || body.length > (cutsAbove?.bytes ?? Infinity);
    response.writeHead(status, { "content-type": "application/json", "content-length": Buffer.byteLength(body) });
    if (isCut) response.write(body.slice(0, Math.floor(body.length / 2)), () => response.destroy());
    else response.end(body);
  }

  function answerAll(node: Node, asked: Message | Message[]): Spoken {
    if (!Array.isArray(asked)) return spoken(answerOne(node, asked), asked.id);
    const { calls = Infinity, refuse, isReordered, withoutLogs } = node.habits.batches ?? {};
    if (refuse !== undefined && asked.length > calls) return spoken({ error: refuse }, null);
    const answers = asked.map((message) => {
      const answer =
        withoutLogs !== undefined && message.method === "eth_getLogs"
          ? { error: withoutLogs }
          : answerOne(node, message);
      return { jsonrpc: "2.0", id: message.id, ...answer };
    });
    return { status: 200, body: JSON.stringify(isReordered ? answers.toReversed() : answers) };
  }

  function answerOne(node: Node, { method, params }: Message): Answer {
    const { refuses } = node.habits;
    const isLogs = method === "eth_getLogs";
    const isReceipts = method === "eth_getBlockReceipts";
    const isRefused = { logs: isLogs || isReceipts, receipts: isReceipts, all: true };
    if (refuses !== undefined && isRefused[refuses.what]) return { error: refuses.refuse };
    if (!isLogs) return { result: factOf(node, method, params) };
    const [filter] = params as readonly [Filter];
    if ("blockHash" in filter) return logsOfBlock(node, filter);
    counts.ranges += 1;
    const answer = logsOfRange(node, filter);
    if ("result" in answer) counts.rangesAnswered += 1;
    return answer;
  }

  return provider;
}

type Filter = { address: readonly string[]; topics: readonly (string | readonly string[] | null)[] } & (
  | { blockHash: string }
  | { fromBlock: string; toBlock: string }
);

function factOf(node: Node, method: string, [first]: readonly unknown[]): unknown {
  const { chain, head } = node;
  switch (method) {
    case "eth_chainId":
      return `0x${chain.chainId.toString(16)}`;
    case "eth_getBlockByNumber":
      return headerOrNull(chain.blocks[numberOf(String(first), node)], head);
    case "eth_getBlockByHash":
      return headerOrNull(chain.blockOf(String(first)), head);
    case "eth_getTransactionReceipt": {
      const receipt = chain.receiptOf(String(first));
      return receipt !== undefined && Number(receipt["blockNumber"]) <= head ? receipt : null;
    }
    case "eth_getBlockReceipts": {
      const block = chain.blockOf(String(first)) ?? chain.blocks[numberOf(String(first), node)];
      if (block === undefined || block.number > head) return null;
      return transactionsIn(block).map((chainTx) => chain.receiptOf(chainTx));
    }
    default:
      throw new Error(`${method} is not asked of a fake provider`);
  }
}

const FINALITY = { safe: 32, final: 64 };

function numberOf(text: string, { head, habits }: Node): number {
  const { safe, final } = habits.finality ?? FINALITY;
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

function logsOfBlock({ chain, habits, head }: Node, filter: Filter & { blockHash: string }): Answer {
  const block = chain.blockOf(filter.blockHash);
  if (block === undefined || block.number > head) return { error: { code: -32000, message: "unknown block" } };
  const { results, bytes } = habits;
  const found = block.logs.filter((log) => passes(log, filter));
  const tooMuch = { from: block.number, to: block.number, fits: block.number };
  if (results !== undefined && found.length > results.most) return { error: results.refuse(tooMuch) };
  if (bytes !== undefined && JSON.stringify(found).length > bytes.most) return { error: bytes.refuse(tooMuch) };
  return { result: found };
}

function logsOfRange({ chain, habits, head }: Node, filter: Filter & { fromBlock: string; toBlock: string }): Answer {
  const [from, to] = [Number(filter.fromBlock), Number(filter.toBlock)];
  const { blocks, results, bytes, givesUp, beyondHead = "empty" } = habits;
  if (givesUp !== undefined && to - from + 1 > givesUp.blocks)
    return { error: { code: -32000, message: "the gateway gave up", status: givesUp.status } };
  if (blocks !== undefined && to - from + 1 > blocks.most)
    return { error: blocks.refuse({ from, to, fits: from + blocks.most - 1 }) };
  if (to > head && beyondHead !== "empty") return { error: beyondHead };
  const found: unknown[] = [];
  let size = 0;
  for (const block of chain.blocks.slice(from, Math.min(to, head) + 1)) {
    for (const log of block.logs) {
      if (!passes(log, filter)) continue;
      found.push(log);
      size += JSON.stringify(log).length;
    }
    const tooMuch = { from, to, fits: Math.max(block.number - 1, from) };
    if (results !== undefined && found.length > results.most) return { error: results.refuse(tooMuch) };
    if (bytes !== undefined && size > bytes.most) return { error: bytes.refuse(tooMuch) };
  }
  return { result: found };
}

function passes(log: { address: string; topics: readonly string[] }, { address, topics }: Filter): boolean {
  if (!address.includes(log.address)) return false;
  return topics.every((wanted, place) => {
    const topic = log.topics[place];
    return wanted === null || (typeof wanted === "string" ? wanted === topic : wanted.includes(topic ?? ""));
  });
}

type Spoken = { status: number; body: string };

function spoken(answer: Answer, id: unknown): Spoken {
  if ("result" in answer) return { status: 200, body: JSON.stringify({ jsonrpc: "2.0", id, ...answer }) };
  const { status = 200, ...error } = answer.error;
  if (status >= 500) return { status, body: "<html>the gateway gave up</html>" };
  return { status, body: JSON.stringify({ jsonrpc: "2.0", id, error }) };
}

/** Mulberry32: small, and the same for the same seed. */
function randomOf(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString("utf8");
}
