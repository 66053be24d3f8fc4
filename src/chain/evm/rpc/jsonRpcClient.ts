import { Pool } from "undici";
import { ProviderFailed } from "../../reader.ts";
import { toHttpError, isBatchRefused, RpcError, type HttpErrorResponse } from "./rpcErrors.ts";
import { redactUrlSecrets } from "./redactUrlSecrets.ts";

/** A JSON-RPC call: its method and its parameters. */
export type RpcCall = readonly [method: string, params: readonly unknown[]];

export type JsonRpcClientOptions = {
  url: string;
  /** How long one request may take, from its first byte out to its last byte in. */
  timeoutMs: number;
  /** Sockets kept open to the provider. */
  connectionsMax: number;
};

/** Providers limit how many calls one request may carry. Those that take fewer say so, and are asked for fewer from then on. */
const BATCH_MAX = 250;
/** A batch that is refused is tried again in so many pieces. */
const BATCH_SPLITS = 5;

/**
 * How long a socket that nobody uses is kept, where the provider says nothing of it himself: longer than the pause between two blocks of the
 * slowest chains, so that a head is not asked for over a new connection each time, and shorter than the minute after which many servers close.
 */
const KEEP_ALIVE_MS = 55_000;
/** What came of a socket that the provider closed while we wrote to it. */
const CONNECTION_LOST_CODES: readonly unknown[] = ["UND_ERR_SOCKET", "ECONNRESET", "EPIPE"];

/** What a provider sent, whatever its status. */
export type RawResponse = Omit<HttpErrorResponse, "text"> & { bytes: Buffer };

type JsonRpcResponse = { id?: unknown; result?: unknown; error?: unknown };

/**
 * JSON-RPC over HTTP to one provider, with its sockets kept open. It reads an answer of any size at once: whoever asks
 * bounds the question. Nothing is repeated here, but a batch that the provider refuses for being one, and a question to which no answer
 * began because the socket was closed just then.
 */
export class JsonRpcClient {
  /** The host alone: the path and the query of a provider's URL often are its key. */
  readonly host: string;
  readonly #pool: Pool;
  readonly #path: string;
  /** For what the provider says in its own words. */
  readonly #redact: (text: string) => string;
  readonly #headers: Record<string, string>;
  readonly #timeoutMs: number;
  /** How many calls one request may carry; 1 with a provider that takes no batches at all. */
  #batchMax = BATCH_MAX;

  constructor({ url, timeoutMs, connectionsMax }: JsonRpcClientOptions) {
    const target = new URL(url);
    this.host = target.host;
    this.#path = `${target.pathname}${target.search}`;
    this.#redact = redactUrlSecrets(target);
    this.#headers = { "content-type": "application/json", ...basicAuthorization(target) };
    this.#timeoutMs = timeoutMs;
    this.#pool = new Pool(target.origin, {
      connections: connectionsMax,
      connectTimeout: timeoutMs,
      headersTimeout: timeoutMs,
      bodyTimeout: timeoutMs,
      keepAliveTimeout: KEEP_ALIVE_MS,
    });
  }

  /** The `result` of one call. Throws RpcError for an answered error, else ProviderFailed. */
  async request(method: string, params: readonly unknown[], timeoutMs = this.#timeoutMs): Promise<unknown> {
    return this.parseResult(method, await this.requestRaw(method, params, timeoutMs));
  }

  /** The answer to one call as it came, to be looked at before `parseResult` makes values of all of it. Throws ProviderFailed. */
  async requestRaw(method: string, params: readonly unknown[], timeoutMs = this.#timeoutMs): Promise<RawResponse> {
    // Whether bytes that were sent have arrived is never known; what becomes of them is decided by whoever keeps them.
    const isRepeatable = method !== "eth_sendRawTransaction";
    return this.#post({ jsonrpc: "2.0", id: 1, method, params }, { timeoutMs, isRepeatable });
  }

  /** The `result` in such an answer. Throws as `ask` does. */
  parseResult(method: string, bytes: RawResponse): unknown {
    const answer = this.#parseJson(bytes);
    if (!isJsonRpcResponse(answer))
      throw new ProviderFailed("bad_answer", `${this.host} answered ${method} with no JSON-RPC`);
    return this.#unwrapResult(answer);
  }

  /** The results of many calls, in the order of `calls`, sent in batches as the provider takes them. One call that fails fails all. */
  async requestAll(calls: readonly RpcCall[]): Promise<unknown[]> {
    const results: unknown[] = [];
    // Each turn brings results or makes the batches smaller, which ends with single calls.
    while (results.length < calls.length) {
      if (this.#batchMax === 1) return [...results, ...(await this.#requestOneByOne(calls.slice(results.length)))];
      const batch = calls.slice(results.length, results.length + this.#batchMax);
      try {
        results.push(...(await this.#requestBatch(batch)));
      } catch (error) {
        if (batch.length === 1 || !isBatchRefused(error)) throw error;
        this.#batchMax = Math.min(this.#batchMax, Math.ceil(batch.length / BATCH_SPLITS));
      }
    }
    return results;
  }

  /** Closes the sockets. Calls under way are given up. */
  async close(): Promise<void> {
    await this.#pool.destroy();
  }

  /** The pool bounds how many are under way at once. */
  async #requestOneByOne(calls: readonly RpcCall[]): Promise<unknown[]> {
    return Promise.all(calls.map(([method, params]) => this.request(method, params)));
  }

  async #requestBatch(calls: readonly RpcCall[]): Promise<unknown[]> {
    const [only] = calls;
    if (only !== undefined && calls.length === 1) return [await this.request(only[0], only[1])];
    const body = calls.map(([method, params], id) => ({ jsonrpc: "2.0", id, method, params }));
    const answers = this.#parseJson(await this.#post(body, { timeoutMs: this.#timeoutMs, isRepeatable: true }));
    if (!Array.isArray(answers)) {
      // A provider that refuses the batch as a whole answers it with a single error.
      if (isJsonRpcResponse(answers)) this.#unwrapResult(answers);
      throw new ProviderFailed("bad_answer", `${this.host} answered a batch with no list`);
    }
    // The answers of a batch may stand in any order.
    const byId = new Map(answers.filter(isJsonRpcResponse).map((answer) => [answer.id, answer]));
    return calls.map(([method], id) => {
      const answer = byId.get(id);
      if (!answer) throw new ProviderFailed("bad_answer", `${this.host} left ${method} out of its answer to a batch`);
      return this.#unwrapResult(answer);
    });
  }

  async #post(
    body: unknown,
    { timeoutMs, isRepeatable }: { timeoutMs: number; isRepeatable: boolean },
  ): Promise<RawResponse> {
    const request = {
      method: "POST" as const,
      path: this.#path,
      headers: this.#headers,
      body: JSON.stringify(body),
      signal: AbortSignal.timeout(timeoutMs),
      headersTimeout: timeoutMs,
      bodyTimeout: timeoutMs,
    };
    try {
      const response = await this.#pool.request(request).catch((error: unknown) => {
        if (!isRepeatable || !isConnectionLost(error)) throw error;
        return this.#pool.request(request);
      });
      const { statusCode: status, headers } = response;
      const [retryAfter, date] = [firstHeader(headers["retry-after"]), firstHeader(headers["date"])];
      const bytes = Buffer.from(await response.body.arrayBuffer());
      return { status, bytes, retryAfter, date };
    } catch (error) {
      throw toTransportError(this.host, error);
    }
  }

  #parseJson({ bytes, ...response }: RawResponse): unknown {
    const text = bytes.toString();
    const { status } = response;
    const failure = () => toHttpError(this.host, { ...response, text: this.#redact(text) });
    let parsed: unknown;
    try {
      parsed = JSON.parse(text);
    } catch {
      // The parser's error would quote the text.
      if (status !== 200) throw failure();
      throw new ProviderFailed("bad_answer", `${this.host} broke off its answer or sent no JSON`);
    }
    // Some providers answer their JSON-RPC errors with a status of their own; the error says more than the status.
    const answersError = isJsonRpcResponse(parsed) && typeof parsed.error === "object" && parsed.error !== null;
    if (status !== 200 && (AUTHORITATIVE_STATUSES.includes(status) || !answersError)) throw failure();
    return parsed;
  }

  #unwrapResult(answer: JsonRpcResponse): unknown {
    if (answer.error !== undefined && answer.error !== null) throw RpcError.parse(answer.error, this.#redact);
    if (answer.result === undefined) throw new ProviderFailed("bad_answer", "an answer has neither result nor error");
    return answer.result;
  }
}

/** Statuses that say more than the words that come with them. */
const AUTHORITATIVE_STATUSES: readonly number[] = [413, 429];

function firstHeader(header: string | string[] | undefined): string | undefined {
  return Array.isArray(header) ? header[0] : header;
}

function isJsonRpcResponse(value: unknown): value is JsonRpcResponse {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function isConnectionLost(error: unknown): boolean {
  return error instanceof Error && "code" in error && CONNECTION_LOST_CODES.includes(error.code);
}

function toTransportError(host: string, error: unknown): ProviderFailed {
  const name = error instanceof Error ? error.name : "";
  const isTimeout = /Timeout/.test(name);
  const reason = error instanceof Error ? error.message : String(error);
  const kind = isTimeout ? "timeout" : "unreachable";
  return new ProviderFailed(kind, `${host} ${isTimeout ? "took too long" : "was not reached"}: ${reason}`, {
    cause: error,
  });
}

function basicAuthorization(url: URL): Record<string, string> {
  if (url.username === "") return {};
  const credentials = `${decodeURIComponent(url.username)}:${decodeURIComponent(url.password)}`;
  return { authorization: `Basic ${Buffer.from(credentials).toString("base64")}` };
}
