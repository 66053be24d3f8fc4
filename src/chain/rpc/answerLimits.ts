import { ProviderFailed } from "../reader.ts";

// How much of a provider's answer is read. Without a limit, one provider could fill the memory of the process.

/** The logs of a range, and the receipts of a block or of one transaction, which can hold as many. */
const LIST_BYTES_MAX = 67_108_864;
const LIST_METHODS: readonly string[] = ["eth_getLogs", "eth_getBlockReceipts", "eth_getTransactionReceipt"];
const BYTES_MAX = 1_048_576;

/** Calls of one request, by their methods. */
type Calls = readonly (readonly [method: string, params: readonly unknown[]])[];

/** The longest answer to a call, or to all calls of a batch together. */
function answerBytesMax(calls: Calls): number {
  const sum = calls.reduce(
    (bytes, [method]) => bytes + (LIST_METHODS.includes(method) ? LIST_BYTES_MAX : BYTES_MAX),
    0,
  );
  return Math.min(sum, LIST_BYTES_MAX);
}

/**
 * Reads an answer, and no further than its limit. Throws ProviderFailed then: a shorter range or batch would fit, and
 * anything else is the provider's fault.
 */
export async function readAnswer(
  body: AsyncIterable<unknown>,
  { host, calls }: { host: string; calls: Calls },
): Promise<Buffer> {
  const bytesMax = answerBytesMax(calls);
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of body as AsyncIterable<Buffer>) {
    length += chunk.length;
    if (length > bytesMax) throw tooLong(host, calls, bytesMax);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks, length);
}

function tooLong(host: string, calls: Calls, bytesMax: number): ProviderFailed {
  const [[method] = [""], ...others] = calls;
  const canShrink = others.length > 0 || method === "eth_getLogs";
  const what = others.length > 0 ? `a batch of ${calls.length} calls` : method;
  const message = `${host} answered ${what} with more than ${bytesMax} bytes`;
  return new ProviderFailed(canShrink ? "range_too_large" : "bad_answer", message);
}
