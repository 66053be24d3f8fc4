import { deepEqual, equal, ok, rejects } from "node:assert/strict";
import { createServer, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { inspect } from "node:util";
import { after, before, describe, test } from "node:test";
import { ProviderFailed } from "../reader.ts";
import { openEvmNode } from "../evm/rpcNode.ts";
import { JsonRpcClient } from "./jsonRpcClient.ts";

// A faulty provider. Tests on a real chain cover correct ones.

type ReceivedRequest = {
  path: string;
  authorization: string | undefined;
  body: { id: number; method: string } & unknown[];
};

describe("JSON-RPC over HTTP", () => {
  let server: Server;
  let url: string;
  let answer: (asked: ReceivedRequest, response: ServerResponse) => void = () => undefined;

  before(async () => {
    server = createServer((request, response) => {
      const chunks: Buffer[] = [];
      request.on("data", (chunk: Buffer) => chunks.push(chunk));
      request.on("end", () => {
        const body = JSON.parse(Buffer.concat(chunks).toString()) as ReceivedRequest["body"];
        answer({ path: request.url ?? "", authorization: request.headers.authorization, body }, response);
      });
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });
  after(() => {
    server.closeAllConnections();
    server.close();
  });

  const open = (path = "/", timeoutMs = 2_000) =>
    new JsonRpcClient({ url: `${url}${path}`, timeoutMs, connectionsMax: 2 });
  const failsWith = (kind: ProviderFailed["kind"]) => (error: unknown) =>
    error instanceof ProviderFailed && error.kind === kind;

  test("the key in the URL is used and never shown", async () => {
    answer = ({ path, authorization }, response) =>
      response.end(JSON.stringify({ id: 1, result: [path, authorization] }));
    const rpc = new JsonRpcClient({
      url: url.replace("//", "//me:s3cret@") + "/v2/k3y?token=t0ken",
      timeoutMs: 2_000,
      connectionsMax: 1,
    });
    deepEqual(await rpc.request("x", []), ["/v2/k3y?token=t0ken", `Basic ${btoa("me:s3cret")}`]);
    equal(rpc.host, new URL(url).host);
    await rpc.close();
  });

  /** Sends JSON of spaces without an end, until the client closes. Counts the bytes that left. */
  const sendEndlessly = (response: ServerResponse, sent: { bytes: number; closed: Promise<void> }) => {
    const piece = Buffer.alloc(65_536, " ");
    sent.closed = new Promise((resolve) => response.once("close", resolve));
    const push = () => {
      while (!response.destroyed && response.write(piece)) sent.bytes += piece.length;
      sent.bytes += piece.length;
      response.once("drain", push);
    };
    push();
  };

  test("an answer without an end is read to its limit, and is the provider's error", async () => {
    const sent = { bytes: 0, closed: Promise.resolve() };
    answer = (_asked, response) => sendEndlessly(response, sent);
    const rpc = open("/", 60_000);
    const kindOf = (method: string, kind: ProviderFailed["kind"], bytesMax: number) =>
      rejects(rpc.request(method, []), (error) => {
        ok(error instanceof ProviderFailed && error.kind === kind, inspect(error));
        return error.message.endsWith(`answered ${method} with more than ${bytesMax} bytes`);
      });
    await kindOf("eth_call", "bad_answer", 1_048_576);
    await sent.closed;
    ok(sent.bytes < 8_000_000, `${sent.bytes} bytes left the provider`);
    await kindOf("getBlock", "bad_answer", 1_048_576);
    await kindOf("eth_getBlockReceipts", "bad_answer", 67_108_864);
    // A shorter range fits.
    sent.bytes = 0;
    await kindOf("eth_getLogs", "range_too_large", 67_108_864);
    await sent.closed;
    ok(sent.bytes > 60_000_000 && sent.bytes < 80_000_000, `${sent.bytes} bytes left the provider`);
    await rpc.close();
  });

  test("a provider without eth_maxPriorityFeePerGas quotes the median tip of recent blocks", async () => {
    const unknown = { code: -32_601, message: "the method eth_maxPriorityFeePerGas does not exist/is not available" };
    const history = { baseFeePerGas: ["0x10", "0x20"], reward: [["0x5"], ["0x7"], ["0x6"]] };
    answer = ({ body }, response) => {
      const calls = [body].flat() as { id: number; method: string }[];
      const answers = calls.map(({ id, method }) =>
        method === "eth_feeHistory" ? { jsonrpc: "2.0", id, result: history } : { jsonrpc: "2.0", id, error: unknown },
      );
      response.end(JSON.stringify(Array.isArray(body) ? answers : answers[0]));
    };
    const node = openEvmNode({ caip2: "eip155:1", rpcUrl: url });
    deepEqual(await node.fees(), { baseFeePerGas: 32n, maxPriorityFeePerGas: 6n });
    await node.close();
  });

  test("a batch whose answer is too long is asked for in smaller ones", async () => {
    const lengths: number[] = [];
    answer = ({ body }, response) => {
      const calls = [body].flat() as { id: number }[];
      lengths.push(calls.length);
      const padding = calls.length > 4 ? " ".repeat(9_000_000) : "";
      const results = calls.map(({ id }) => ({ jsonrpc: "2.0", id, result: id }));
      response.end(JSON.stringify(Array.isArray(body) ? results : results[0]) + padding);
    };
    const rpc = open("/", 60_000);
    const results = await rpc.requestAll(Array.from({ length: 8 }, () => ["eth_call", []] as const));
    equal(results.length, 8);
    equal(lengths[0], 8);
    ok(
      lengths.slice(1).every((length) => length <= 4),
      String(lengths),
    );
    await rpc.close();
  });

  test("a request on a closing socket is repeated once, and a broadcast is not", async () => {
    const methods: string[] = [];
    // The first request of a socket is answered; the server closes it at the next one.
    const answered = new WeakSet();
    answer = ({ body: { method } }, response) => {
      methods.push(method);
      const { socket } = response;
      if (socket !== null && answered.has(socket)) {
        socket.destroy();
        return;
      }
      if (socket !== null) answered.add(socket);
      response.end(JSON.stringify({ id: 1, result: "0x1" }));
    };
    const rpc = new JsonRpcClient({ url, timeoutMs: 2_000, connectionsMax: 1 });
    equal(await rpc.request("eth_blockNumber", []), "0x1");
    equal(await rpc.request("eth_chainId", []), "0x1");
    await rejects(rpc.request("eth_sendRawTransaction", ["0x"]), failsWith("unreachable"));
    equal(await rpc.request("getSlot", []), "0x1");
    await rejects(rpc.request("sendTransaction", ["AQ=="]), failsWith("unreachable"));
    const repeated = ["eth_chainId", "eth_chainId"];
    deepEqual(methods, ["eth_blockNumber", ...repeated, "eth_sendRawTransaction", "getSlot", "sendTransaction"]);
    await rpc.close();
  });

  test("a provider that echoes its URL reveals no key", async () => {
    const secrets = ["key-of-path-1", "key of query", "userName", "pass/word"];
    const target = new URL(url);
    target.pathname = "/v2/key-of-path-1";
    target.search = "?apikey=key%20of%20query&chain=1";
    target.username = "userName";
    target.password = "pass%2Fword";
    const rpc = new JsonRpcClient({ url: target.href, timeoutMs: 2_000, connectionsMax: 1 });
    const message = `Cannot POST /v2/key-of-path-1?apikey=key%20of%20query (key of query) of userName:pass/word (pass%2Fword)`;
    for (const [status, text] of [
      [404, message],
      [429, JSON.stringify({ error: { code: 1, message } })],
      [200, JSON.stringify({ id: 1, error: { code: -32_000, message } })],
      [200, message],
      [500, `${" ".repeat(470)}${message}`],
    ] as const) {
      answer = (_, response) => {
        response.statusCode = status;
        response.end(text);
      };
      const error: unknown = await rpc.request("eth_blockNumber", []).catch((thrown: unknown) => thrown);
      const shown = inspect(error, { depth: 9 });
      for (const secret of secrets)
        for (const spelling of [secret, encodeURIComponent(secret)]) ok(!shown.includes(spelling), shown);
      if (text.startsWith("{")) ok(shown.includes("Cannot POST /v2/…"), shown);
    }
    await rpc.close();
  });

  test("a provider that closes every socket gets two requests at most", async () => {
    let asked = 0;
    answer = (_, response) => {
      asked += 1;
      response.destroy();
    };
    const rpc = open();
    await rejects(rpc.request("eth_blockNumber", []), failsWith("unreachable"));
    equal(asked, 2);
    await rpc.close();
  });

  test("an answer of many megabytes is read completely", async () => {
    const word = `0x${"ab".repeat(32)}`;
    const log = {
      address: `0x${"aa".repeat(20)}`,
      topics: [
        `0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef`,
        `0x${"0".repeat(64)}`,
        `0x${"0".repeat(64)}`,
      ],
      data: word,
      blockNumber: "0x1",
      blockHash: word,
      transactionHash: word,
      transactionIndex: "0x0",
      logIndex: "0x0",
      removed: false,
    };
    const body = JSON.stringify({ id: 1, result: Array.from({ length: 25_000 }, () => log) });
    ok(body.length > 12_000_000);
    answer = (_, response) => response.end(body);
    const node = openEvmNode({ caip2: "eip155:1", rpcUrl: url });
    equal((await node.transfers({ blockHash: word, blockNumber: 1n }, [log.address])).length, 25_000);
    await node.close();
  });

  for (const [by, refusal, sizes] of [
    [
      "one error for all",
      { error: { code: -32005, message: "Number of requests exceeds max batch size" } },
      "12,3,3,3,3",
    ],
    [
      "an error for each",
      { code: 31, message: "Batch of more than 3 requests are not allowed on free plan" },
      "12,3,3,3,3",
    ],
    ["HTTP 413", undefined, "12,3,3,3,3"],
    [
      "no batch at all",
      { error: { code: -32005, message: "Batched requests are not supported by this server" } },
      "12,3,1,1,1,1,1,1,1,1,1,1,1,1",
    ],
  ] as const) {
    test(`a refused batch is split, and the limit is kept: ${by}`, async () => {
      const asked: number[] = [];
      const lengthMax = by === "no batch at all" ? 0 : 3;
      answer = ({ body }, response) => {
        asked.push(Array.isArray(body) ? body.length : 1);
        const calls: { id: number; method: string }[] = Array.isArray(body)
          ? body.map((call) => call as ReceivedRequest["body"])
          : [body];
        const answers = calls.map(({ id, method }) => ({ id, result: method }));
        if (!Array.isArray(body)) response.end(JSON.stringify(answers[0]));
        else if (body.length <= lengthMax) response.end(JSON.stringify(answers));
        else if (refusal === undefined) response.writeHead(413).end("Request Entity Too Large");
        else if ("error" in refusal) response.end(JSON.stringify({ id: null, ...refusal }));
        else response.end(JSON.stringify(calls.map(({ id }) => ({ id, error: refusal }))));
      };
      const rpc = open();
      const calls = Array.from({ length: 12 }, (_, index) => [`call${index}`, []] as const);
      const results = calls.map(([method]) => method);
      deepEqual(await rpc.requestAll(calls), results);
      equal(asked.join(), sizes);
      asked.length = 0;
      deepEqual(await rpc.requestAll(calls), results);
      equal(Math.max(...asked), Math.max(lengthMax, 1), "it is not tried again");
      await rpc.close();
    });
  }

  test("batch answers are ordered, and a missing one fails the batch", async () => {
    let drop = 0;
    answer = ({ body }, response) => {
      const answers = body.map((_, index) => ({ id: index, result: index })).toReversed();
      response.end(JSON.stringify(answers.slice(drop)));
    };
    const rpc = open();
    const calls = Array.from({ length: 350 }, () => ["x", []] as const);
    const results = await rpc.requestAll(calls);
    equal(results.length, 350);
    deepEqual(results.slice(248, 252), [248, 249, 0, 1], "some hundred at a time");
    drop = 1;
    await rejects(rpc.requestAll(calls), failsWith("bad_answer"));
    await rpc.close();
  });

  const badAnswers: readonly (readonly [string, ProviderFailed["kind"], (response: ServerResponse) => void])[] = [
    ["429", "rate_limited", (response) => response.writeHead(429).end("slow down")],
    ["413", "range_too_large", (response) => response.writeHead(413).end("Payload Too Large")],
    ["502", "unreachable", (response) => response.writeHead(502).end("<html>Bad Gateway</html>")],
    ["504", "timeout", (response) => response.writeHead(504).end("")],
    ["401", "bad_answer", (response) => response.writeHead(401).end(JSON.stringify({ message: "no key" }))],
    ["a page instead of JSON", "bad_answer", (response) => response.end("<html>")],
    ["half an answer", "bad_answer", (response) => response.end('{"id":1,"result":[{"addr')],
    ["neither result nor error", "bad_answer", (response) => response.end('{"id":1}')],
    ["a list for a single call", "bad_answer", (response) => response.end("[]")],
    [
      "a connection that ends in the middle",
      "unreachable",
      (response) => {
        response.writeHead(200, { "content-length": 1_000 });
        response.write('{"id":1,');
        response.socket?.destroy();
      },
    ],
    ["silence", "timeout", () => undefined],
    [
      "a trickle without end",
      "timeout",
      (response) => {
        const drip = setInterval(() => response.write(" "), 20);
        response.once("close", () => clearInterval(drip));
      },
    ],
  ];
  for (const [what, kind, respond] of badAnswers) {
    test(`${what} is ${kind}`, async () => {
      answer = (_, response) => respond(response);
      const rpc = open("/", 300);
      await rejects(rpc.request("eth_blockNumber", []), failsWith(kind));
      await rpc.close();
    });
  }

  test("an error with its own HTTP status is classified by its text", async () => {
    answer = (_, response) =>
      response
        .writeHead(400)
        .end(JSON.stringify({ id: 1, error: { code: -32602, message: "query exceeds max results 20000" } }));
    const node = openEvmNode({ caip2: "eip155:1", rpcUrl: url });
    await rejects(
      node.transfers({ fromBlock: 1n, toBlock: 9n }, [`0x${"aa".repeat(20)}`]),
      failsWith("range_too_large"),
    );
    await node.close();
  });

  test("a closed port is unreachable", async () => {
    const rpc = new JsonRpcClient({ url: "http://127.0.0.1:1", timeoutMs: 1_000, connectionsMax: 1 });
    await rejects(rpc.request("eth_blockNumber", []), failsWith("unreachable"));
    await rpc.close();
  });
});

test("batches to a known family begin within its limit, and to any other host at 250", async () => {
  const limits: Readonly<Record<string, number>> = {
    "api.avax.network": 40,
    "api.avax-test.network": 40,
    "node.api.avax.network": 40,
    "api.avax.network.example": 250,
    "base-mainnet.g.alchemy.com": 250,
    "127.0.0.1": 250,
  };
  for (const [host, calls] of Object.entries(limits)) {
    const rpc = new JsonRpcClient({ url: `https://${host}/key`, timeoutMs: 1_000, connectionsMax: 1 });
    equal(rpc.batchMax, calls, host);
    // Refused without a request: nothing listens there.
    equal(await rpc.requestTogether(Array.from({ length: calls + 1 }, () => ["eth_chainId", []] as const)), undefined);
    await rpc.close();
  }
});
