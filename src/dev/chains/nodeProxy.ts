import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

// A proxy before anvil that answers as nodes of public networks do where anvil cannot: they prune what is old, put the
// bloom of other blocks into a header, and refuse methods. It forwards everything else.

export type NodeTraits = {
  /** Older blocks, their logs and their state are pruned, the first block included. */
  keptBlocks?: number;
  /** A header's bloom belongs to an ancestor, as on chains that settle blocks later. */
  hasForeignBloom?: boolean;
  /** The list of a block's receipts is refused, with HTTP 403. */
  refusesBlockReceipts?: boolean;
  /** The first block is refused, as archives that want a key do. */
  refusesFirstBlock?: boolean;
};

export type NodeProxy = {
  readonly url: string;
  /** What it has answered so far: requests over HTTP, and the calls in them. */
  readonly count: { requests: number; calls: number };
  close(): Promise<void>;
};

type RpcMessage = { id: unknown; method: string; params: readonly unknown[] };
type RpcReply = { id: unknown; result?: unknown; error?: { code: number; message: string } };

const BLOOM_DISTANCE = 3;
const BLOCK_RECEIPTS = "eth_getBlockReceipts";
/** Methods that read state, with the place of their block among the parameters. */
const STATE_METHODS: Readonly<Record<string, number>> = {
  eth_call: 1,
  eth_getBalance: 1,
  eth_getCode: 1,
  eth_getTransactionCount: 1,
};

/** Opens a proxy on a free port before the node at `upstream`. */
export async function openNodeProxy(upstream: string, traits: NodeTraits): Promise<NodeProxy> {
  const node = new OddNode(upstream, traits);
  const count = { requests: 0, calls: 0 };
  const server = createServer((request, response) => {
    void respond({ node, count }, request, response).catch(() => response.writeHead(502).end("the node is away"));
  });
  await new Promise<void>((resolve) => {
    server.listen(0, "127.0.0.1", resolve);
  });
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    count,
    close: () =>
      new Promise((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  };
}

async function respond(
  { node, count }: { node: OddNode; count: NodeProxy["count"] },
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  const body = JSON.parse(Buffer.concat(chunks).toString()) as RpcMessage | RpcMessage[];
  const messages = Array.isArray(body) ? body : [body];
  count.requests += 1;
  count.calls += messages.length;
  if (node.refuses(messages)) {
    response.writeHead(403, { "content-type": "text/plain" }).end("rpc method is not whitelisted");
    return;
  }
  const replies: RpcReply[] = [];
  // One after the other: a reply of a batch must not be older than the one before it.
  for (const message of messages) replies.push(await node.reply(message));
  response.writeHead(200, { "content-type": "application/json" });
  response.end(JSON.stringify(Array.isArray(body) ? replies : replies[0]));
}

class OddNode {
  readonly #upstream: string;
  readonly #traits: NodeTraits;

  constructor(upstream: string, traits: NodeTraits) {
    this.#upstream = upstream;
    this.#traits = traits;
  }

  refuses(messages: readonly RpcMessage[]): boolean {
    return this.#traits.refusesBlockReceipts === true && messages.some(({ method }) => method === BLOCK_RECEIPTS);
  }

  async reply(message: RpcMessage): Promise<RpcReply> {
    const { id } = message;
    const lowest = await this.#lowestKept();
    const reply = await this.#forward(message);
    const missing = (isMissing: boolean, error: { code: number; message: string }) =>
      isMissing ? { jsonrpc: "2.0", id, error } : undefined;
    const pruned = { code: 4_444, message: "pruned history unavailable" };
    const [first] = message.params;
    if (this.#traits.refusesFirstBlock === true && message.method === "eth_getBlockByNumber" && first === "0x0")
      return { id, error: { code: -32_602, message: "Archive requests require a personal token." } };
    switch (message.method) {
      case "eth_getBlockByNumber":
      case "eth_getBlockByHash":
        return missing(isBelow(fieldOf(reply.result, "number"), lowest), pruned) ?? this.#withBloom(reply);
      case "eth_getLogs":
        return missing(isBelow(fieldOf(first, "fromBlock"), lowest), pruned) ?? reply;
      case "eth_getTransactionReceipt":
        return isBelow(fieldOf(reply.result, "blockNumber"), lowest) ? { ...reply, result: null } : reply;
      default: {
        const block = message.params[STATE_METHODS[message.method] ?? -1];
        const text = `state at block #${Number(block)} is pruned`;
        return missing(isBelow(block, lowest), { code: -32_603, message: text }) ?? reply;
      }
    }
  }

  async #lowestKept(): Promise<number> {
    const { keptBlocks } = this.#traits;
    if (keptBlocks === undefined) return 0;
    const { result } = await this.#forward({ id: 1, method: "eth_blockNumber", params: [] });
    return Number(result) - keptBlocks + 1;
  }

  async #withBloom(reply: RpcReply): Promise<RpcReply> {
    const { result } = reply;
    if (this.#traits.hasForeignBloom !== true || typeof result !== "object" || result === null) return reply;
    const number = Math.max(0, Number(fieldOf(result, "number")) - BLOOM_DISTANCE);
    const ancestor = { id: 1, method: "eth_getBlockByNumber", params: [`0x${number.toString(16)}`, false] };
    const logsBloom = fieldOf((await this.#forward(ancestor)).result, "logsBloom");
    return { ...reply, result: { ...result, logsBloom } };
  }

  async #forward(message: RpcMessage): Promise<RpcReply> {
    const response = await fetch(this.#upstream, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ jsonrpc: "2.0", ...message }),
    });
    return (await response.json()) as RpcReply;
  }
}

function fieldOf(value: unknown, name: string): unknown {
  return typeof value === "object" && value !== null ? Reflect.get(value, name) : undefined;
}

/** Whether a block's number, as a node writes it, is below another one. Tags are never. */
function isBelow(number: unknown, lowest: number): boolean {
  return typeof number === "string" && number.startsWith("0x") && Number(number) < lowest;
}
