import { ProviderFailed } from "../../reader.ts";
import { RpcError } from "../../rpc/rpcError.ts";
import type { RpcCall } from "../../rpc/jsonRpcClient.ts";
import { toProviderError, toSubmitOutcome } from "../rpc/rpcErrors.ts";
import { toHex } from "../rpc/rpcValues.ts";

// What a provider answers to the calls of this service, as shapes: names of fields, kinds of values, texts of errors
// without their numbers. No address, hash or amount is kept.

/** The parts of a client that ask. */
export type AskedProvider = {
  readonly host: string;
  request(method: string, params: readonly unknown[]): Promise<unknown>;
  requestEach(calls: readonly RpcCall[]): Promise<unknown[]>;
};

export type Shape = string | { [field: string]: Shape } | [Shape] | [];
export type RecordedAnswer = { call: string } & ({ shape: Shape } | { code: number; text: string; takenAs: string });
/** `differs`: a sentence for what this release does not know of this answer. */
export type RecordedProvider = { answers: RecordedAnswer[]; differs: string[] };

type Expected = {
  call: string;
  request: RpcCall;
  /** Fields that are read, of the answer or of its first element; `null`: there may be none. */
  fields?: readonly string[];
  isNullable?: boolean;
  /** Verdicts on an error that this release handles. */
  errors: readonly string[];
};

const HEADER = ["number", "hash", "parentHash", "timestamp", "logsBloom", "gasLimit", "transactions"];
const LOG = ["address", "topics", "data", "blockNumber", "blockHash", "transactionHash", "logIndex"];
const RECEIPT = ["transactionHash", "blockNumber", "blockHash", "status", "gasUsed", "logs"];
const FEES = ["baseFeePerGas"];
const ZERO_HASH = `0x${"0".repeat(64)}`;
const BEYOND_HEAD = 1_000_000n;
const LONG_RANGE = 100_000n;
const BATCH_CALLS = 100;
/** Numbers, addresses, and anything as long as a key. */
const DIGITS = /0x[\da-f]+|[\w-]{24,}|\d[\d.,]*/gi;

/** Asks one provider. Throws ProviderFailed when it does not tell its newest block. */
export async function recordProvider(provider: AskedProvider): Promise<RecordedProvider> {
  const latest = await provider.request("eth_getBlockByNumber", ["latest", false]).catch((error: unknown) => {
    throw toProviderError(provider.host, error);
  });
  const head = BigInt(String(fieldOf(latest, "number")));
  const recorded: RecordedProvider = { answers: [], differs: [] };
  // One after the other: public nodes refuse bursts.
  for (const expected of expectedCalls(head, String(fieldOf(latest, "hash")))) {
    const answer = await ask(provider, expected);
    recorded.answers.push(answer);
    recorded.differs.push(...compare(expected, answer));
  }
  recorded.answers.push(await askBatch(provider));
  return recorded;
}

function expectedCalls(head: bigint, hash: string): Expected[] {
  const block = (call: string, tag: string, errors: readonly string[] = []): Expected => ({
    call,
    request: ["eth_getBlockByNumber", [tag, false]],
    fields: HEADER,
    isNullable: errors.length > 0,
    errors,
  });
  const logs = (call: string, filter: object, errors: readonly string[] = []): Expected => ({
    call,
    request: ["eth_getLogs", [filter]],
    fields: LOG,
    errors,
  });
  const from = head > LONG_RANGE ? head - LONG_RANGE : 0n;
  return [
    block("newest block", "latest"),
    block("first block", "0x0", ["unknown_block", "bad_answer"]),
    block("finalized block", "finalized", ["unknown_block", "bad_answer"]),
    block("safe block", "safe", ["unknown_block", "bad_answer"]),
    block("block beyond the head", toHex(head + BEYOND_HEAD), ["unknown_block"]),
    logs("logs of a block", { blockHash: hash }),
    logs("logs of an unknown block", { blockHash: ZERO_HASH }, ["unknown_block"]),
    logs("logs of 100,000 blocks", { fromBlock: toHex(from), toBlock: toHex(head), topics: [ZERO_HASH] }, [
      "range_too_large",
    ]),
    {
      call: "receipts of a block",
      request: ["eth_getBlockReceipts", [toHex(head)]],
      fields: RECEIPT,
      errors: ["bad_answer"],
    },
    {
      call: "receipt of an unknown transaction",
      request: ["eth_getTransactionReceipt", [ZERO_HASH]],
      isNullable: true,
      errors: [],
    },
    { call: "fees", request: ["eth_feeHistory", ["0x5", "latest", [50]]], fields: FEES, errors: [] },
    { call: "tip", request: ["eth_maxPriorityFeePerGas", []], errors: ["bad_answer"] },
    {
      call: "a simulated creation",
      request: ["eth_call", [{ data: "0x00" }, "latest"]],
      errors: ["bad_answer", "CallReverted"],
    },
    // Not a transaction: nothing could be broadcast.
    {
      call: "a broadcast of no transaction",
      request: ["eth_sendRawTransaction", ["0x00"]],
      errors: ["untakeable", "unknown"],
    },
    { call: "an unknown method", request: ["tributary_unknown", []], errors: ["bad_answer"] },
  ];
}

async function ask(provider: AskedProvider, { call, request: [method, params] }: Expected): Promise<RecordedAnswer> {
  try {
    return { call, shape: shapeOf(await provider.request(method, params)) };
  } catch (error) {
    return { call, ...describeError(provider.host, method, error) };
  }
}

async function askBatch(provider: AskedProvider): Promise<RecordedAnswer> {
  const call = `a batch of ${BATCH_CALLS}`;
  try {
    const calls = Array.from({ length: BATCH_CALLS }, (): RpcCall => ["eth_chainId", []]);
    return { call, shape: shapeOf(await provider.requestEach(calls)) };
  } catch (error) {
    return { call, ...describeError(provider.host, "eth_chainId", error) };
  }
}

function describeError(host: string, method: string, error: unknown): { code: number; text: string; takenAs: string } {
  const isBroadcast = method === "eth_sendRawTransaction";
  const mapped = toProviderError(host, error);
  const takenAs = isBroadcast
    ? toSubmitOutcome(error).kind
    : mapped instanceof ProviderFailed
      ? mapped.kind
      : mapped.name;
  const code = error instanceof RpcError ? error.code : 0;
  const text = error instanceof Error ? error.message.replace(host, "host") : String(error);
  return { code, text: text.replaceAll(DIGITS, "#"), takenAs };
}

/** A field's name, and of its value only the kind: a hexadecimal string by the number of its digits. */
export function shapeOf(value: unknown): Shape {
  if (Array.isArray(value)) return value.length === 0 ? [] : [shapeOf(value[0])];
  if (typeof value === "object" && value !== null)
    return Object.fromEntries(Object.entries(value).map(([name, field]) => [name, shapeOf(field)]));
  if (typeof value !== "string") return value === null ? "null" : typeof value;
  if (!/^0x[\da-f]*$/i.test(value)) return "text";
  return [42, 66, 514].includes(value.length) ? `hex of ${(value.length - 2) / 2} bytes` : "hex";
}

function compare({ fields = [], isNullable = false, errors }: Expected, answer: RecordedAnswer): string[] {
  const { call } = answer;
  if ("takenAs" in answer)
    return errors.includes(answer.takenAs)
      ? []
      : [`${call}: the error ${answer.code} "${answer.text}" is taken as ${answer.takenAs}`];
  if (answer.shape === "null") return isNullable ? [] : [`${call}: no answer, where one was expected`];
  const one = Array.isArray(answer.shape) ? answer.shape[0] : answer.shape;
  if (one === undefined || fields.length === 0) return [];
  const missing = fields.filter((name) => typeof one === "string" || !(name in one));
  return missing.length === 0 ? [] : [`${call}: without ${missing.join(", ")}`];
}

function fieldOf(value: unknown, name: string): unknown {
  return typeof value === "object" && value !== null ? Reflect.get(value, name) : undefined;
}
