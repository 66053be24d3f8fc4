import assert from "node:assert/strict";
import { test } from "node:test";
import { ProviderFailed } from "../../reader.ts";
import { RpcError } from "../../rpc/rpcError.ts";
import { recordProvider, shapeOf, type AskedProvider } from "./recordShapes.ts";

const HASH = `0x${"ab".repeat(32)}`;
const ADDRESS = `0x${"cd".repeat(20)}`;
const KEY = "k3yk3yk3yk3yk3yk3yk3yk3yk3y";
const HEADER = {
  number: "0x1000000",
  hash: HASH,
  parentHash: HASH,
  timestamp: "0x66000000",
  logsBloom: `0x${"00".repeat(256)}`,
  gasLimit: "0x1c9c380",
  transactions: [HASH],
};
const LOG = {
  address: ADDRESS,
  topics: [HASH],
  data: "0x",
  blockNumber: "0x1",
  blockHash: HASH,
  transactionHash: HASH,
  logIndex: "0x0",
};
const RECEIPT = {
  transactionHash: HASH,
  blockNumber: "0x1",
  blockHash: HASH,
  status: "0x1",
  gasUsed: "0x5208",
  logs: [LOG],
};

type Answers = (method: string, params: readonly unknown[]) => unknown;

/** A node that has what was asked for, unless `changed` answers. */
function node(changed: Answers = () => undefined): AskedProvider {
  const answer: Answers = (method, params) => {
    const [first] = params;
    if (method === "eth_getBlockByNumber") return first === "0x10f4240" ? null : HEADER;
    if (method === "eth_getLogs") return [LOG];
    if (method === "eth_getBlockReceipts") return [RECEIPT];
    if (method === "eth_getTransactionReceipt") return null;
    if (method === "eth_feeHistory") return { baseFeePerGas: ["0x1"], reward: [["0x1"]] };
    if (method === "eth_sendRawTransaction") throw new RpcError(-32_000, "typed transaction too short", undefined);
    if (method === "tributary_unknown")
      throw new RpcError(-32_601, "the method does not exist/is not available", undefined);
    return "0x1";
  };
  const request = async (method: string, params: readonly unknown[]) =>
    changed(method, params) ?? answer(method, params);
  return { host: "node.example", request, requestEach: (calls) => Promise.all(calls.map((call) => request(...call))) };
}

const failing =
  (method: string, error: Error): Answers =>
  (asked) => {
    if (asked === method) throw error;
    return undefined;
  };

test("a node that answers as known has no differences, and no value of it is recorded", async () => {
  const recorded = await recordProvider(node());
  assert.deepEqual(recorded.differs, []);
  const text = JSON.stringify(recorded);
  for (const value of [HASH, ADDRESS, "0x1000000", "66000000"]) assert.ok(!text.includes(value), value);
  assert.match(text, /"hash":"hex of 32 bytes".*"address":"hex of 20 bytes"/);
});

test("an error in unknown words is one line, without its numbers, keys and host", async () => {
  const error = new RpcError(-32_000, `no such filter 12345 at node.example for ${ADDRESS} ${KEY}`, undefined);
  const { differs, answers } = await recordProvider(node(failing("eth_feeHistory", error)));
  assert.deepEqual(differs, ['fees: the error -32000 "no such filter # at host for # #" is taken as bad_answer']);
  assert.ok(!JSON.stringify(answers).includes(KEY));
});

test("a missing field and a missing answer are a line each", async () => {
  const { transactionHash: _, ...withoutHash } = LOG;
  const odd = node((method) =>
    method === "eth_getLogs" ? [withoutHash] : method === "eth_feeHistory" ? null : undefined,
  );
  const { differs } = await recordProvider({
    ...odd,
    request: async (method, params) => (method === "eth_feeHistory" ? null : odd.request(method, params)),
  });
  assert.deepEqual(
    differs.filter((line) => !line.startsWith("logs of an") && !line.startsWith("logs of 100")),
    ["logs of a block: without transactionHash", "fees: no answer, where one was expected"],
  );
});

test("known refusals are no difference", async () => {
  const refusals: [string, Error][] = [
    [
      "eth_getBlockReceipts",
      new ProviderFailed("bad_answer", "node.example answered HTTP 403: rpc method is not whitelisted"),
    ],
    ["eth_maxPriorityFeePerGas", new RpcError(-32_601, "Method not found", undefined)],
  ];
  for (const [method, error] of refusals)
    assert.deepEqual((await recordProvider(node(failing(method, error)))).differs, [], method);
});

test("a provider that does not tell its newest block is not recorded", () =>
  assert.rejects(
    recordProvider(node(failing("eth_getBlockByNumber", new RpcError(-32_005, "rate limit exceeded", undefined)))),
    (error) => error instanceof ProviderFailed && error.kind === "rate_limited",
  ));

test("a shape has the names of fields and the kinds of values", () => {
  assert.deepEqual(shapeOf({ a: [], b: [ADDRESS, HASH], c: null, d: true, e: 1, f: "0x", g: "word" }), {
    a: [],
    b: ["hex of 20 bytes"],
    c: "null",
    d: "boolean",
    e: "number",
    f: "hex",
    g: "text",
  });
});
