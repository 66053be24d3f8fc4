import { Pool } from "undici";
import { findRpcFamily } from "../../config/networks/rpcFamilies.ts";
import { ProviderFailed } from "../reader.ts";
import { readAnswer } from "./answerLimits.ts";
import { toHttpError, isBatchRefused, RpcError, type HttpErrorResponse } from "./rpcError.ts";
import { redactUrlSecrets } from "./redactUrlSecrets.ts";

/** A JSON-RPC call: its method and its parameters. */
export type RpcCall = readonly [method: string, params: readonly unknown[]];

export type JsonRpcClientOptions = {
  url: string;
  /** Limit for one request in milliseconds, from its first byte sent to its last byte received. */
  timeoutMs: number;
  /** Open sockets to the provider at a time. */
  connectionsMax: number;
};

/** Calls per batch at first. Providers limit them; a smaller limit is learned from refusals and kept. */
const BATCH_MAX = 250;
/** A refused batch is retried in this many parts. */
const BATCH_SPLITS = 5;

/**
 * Idle time of a socket, when the provider sends no limit. Longer than the block interval of the slowest chains, so
 * that each head reuses the connection. Shorter than the minute after which many servers close.
 */
const KEEP_ALIVE_MS = 55_000;
/** Errors of a socket that the provider closed during our write. */
const CONNECTION_LOST_CODES: readonly unknown[] = ["UND_ERR_SOCKET", "ECONNRESET", "EPIPE"];

/** Methods that broadcast a transaction, of every kind of chain. */
const BROADCASTS: readonly string[] = ["eth_sendRawTransaction", "sendTransaction"];

/** A provider's response, whatever its status. */
export type RawResponse = Omit<HttpErrorResponse, "text"> & { bytes: Buffer };

type JsonRpcResponse = { id?: unknown; result?: unknown; error?: unknown };

/**
 * JSON-RPC over HTTP to one provider, with keep-alive sockets. It reads no answer further than its limit. It repeats
 * only two requests: a batch that the provider refuses as a batch, and a request whose socket closed before any
 * response.
 */
export class JsonRpcClient {
  /** The host only: path and query of a provider's URL often contain its key. */
  readonly host: string;
  readonly #pool: Pool;
  readonly #path: string;
  /** Redacts URL secrets in the provider's texts. */
  readonly #redact: (text: string) => string;
  readonly #headers: Record<string, string>;
  readonly #timeoutMs: number;
  /** Calls per batch; 1 with a provider that takes no batches. Known families begin within their own limit. */
  #batchMax: number;

  constructor({ url, timeoutMs, connectionsMax }: JsonRpcClientOptions) {
    const target = new URL(url);
    this.host = target.host;
    this.#batchMax = Math.min(BATCH_MAX, findRpcFamily(target.hostname)?.batchCalls ?? BATCH_MAX);
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

  /** Returns the `result` of one call. Throws RpcError for an answered error, otherwise ProviderFailed. */
  async request(method: string, params: readonly unknown[], timeoutMs = this.#timeoutMs): Promise<unknown> {
    return this.parseResult(method, await this.requestRaw(method, params, timeoutMs));
  }

  /** Returns the raw response to one call, for a scan before `parseResult`. Throws ProviderFailed. */
  async requestRaw(method: string, params: readonly unknown[], timeoutMs = this.#timeoutMs): Promise<RawResponse> {
    // Sent bytes may have arrived; the sender decides whether to send them again.
    const isRepeatable = !BROADCASTS.includes(method);
    const body = { jsonrpc: "2.0", id: 1, method, params };
    return this.#post(body, { timeoutMs, isRepeatable, calls: [[method, params]] });
  }

  /** Returns the `result` of a raw response. Throws as `request` does. */
  parseResult(method: string, bytes: RawResponse): unknown {
    const answer = this.#parseJson(bytes);
    if (!isJsonRpcResponse(answer))
      throw new ProviderFailed("bad_answer", `${this.host} answered ${method} with no JSON-RPC`);
    return this.#unwrapResult(answer);
  }

  /** Returns the results of many calls in the order of `calls`, sent in batches. Throws when any call fails. */
  async requestAll(calls: readonly RpcCall[]): Promise<unknown[]> {
    return (await this.requestEach(calls)).map((result) => {
      if (result instanceof RpcError) throw result;
      return result;
    });
  }

  /**
   * Returns the result or the RpcError of each call, in the order of `calls`, sent in batches. Throws when a call has
   * neither.
   */
  async requestEach(calls: readonly RpcCall[]): Promise<unknown[]> {
    const results: unknown[] = [];
    // Each round adds results or shrinks the batch, down to single calls.
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

  /** How many calls one batch may have, as far as it is known. */
  get batchMax(): number {
    return this.#batchMax;
  }

  /** Like requestEach, in exactly one batch. Undefined where the provider does not take one of this length. */
  async requestTogether(calls: readonly RpcCall[]): Promise<unknown[] | undefined> {
    if (calls.length > this.#batchMax) return undefined;
    try {
      return await this.#requestBatch(calls);
    } catch (error) {
      if (!isBatchRefused(error)) throw error;
      this.#batchMax = Math.min(this.#batchMax, Math.ceil(calls.length / BATCH_SPLITS));
      return undefined;
    }
  }

  /** Closes the sockets. Pending calls fail. */
  async close(): Promise<void> {
    await this.#pool.destroy();
  }

  /** The pool limits the concurrent calls. */
  async #requestOneByOne(calls: readonly RpcCall[]): Promise<unknown[]> {
    return Promise.all(calls.map((call) => this.#requestOne(call)));
  }

  async #requestOne([method, params]: RpcCall): Promise<unknown> {
    return this.request(method, params).catch(keepRpcError);
  }

  async #requestBatch(calls: readonly RpcCall[]): Promise<unknown[]> {
    const [only] = calls;
    if (only !== undefined && calls.length === 1) return [await this.#requestOne(only)];
    const body = calls.map(([method, params], id) => ({ jsonrpc: "2.0", id, method, params }));
    const answers = this.#parseJson(await this.#post(body, { timeoutMs: this.#timeoutMs, isRepeatable: true, calls }));
    if (!Array.isArray(answers)) {
      // A provider that refuses the whole batch answers with a single error.
      if (isJsonRpcResponse(answers)) this.#unwrapResult(answers);
      throw new ProviderFailed("bad_answer", `${this.host} answered a batch without a list`);
    }
    // Batch responses may arrive in any order.
    const byId = new Map(answers.filter(isJsonRpcResponse).map((answer) => [answer.id, answer]));
    return calls.map(([method], id) => {
      const answer = byId.get(id);
      if (!answer) throw new ProviderFailed("bad_answer", `${this.host} left ${method} out of its answer to a batch`);
      try {
        return this.#unwrapResult(answer);
      } catch (error) {
        if (isBatchRefused(error)) throw error;
        return keepRpcError(error);
      }
    });
  }

  async #post(
    body: unknown,
    { timeoutMs, isRepeatable, calls }: { timeoutMs: number; isRepeatable: boolean; calls: readonly RpcCall[] },
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
      const bytes = await readAnswer(response.body, { host: this.host, calls });
      return { status, bytes, retryAfter, date };
    } catch (error) {
      throw error instanceof ProviderFailed ? error : toTransportError(this.host, error);
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
      throw new ProviderFailed("bad_answer", `${this.host} sent a truncated answer or no JSON`);
    }
    // Some providers send JSON-RPC errors with their own HTTP status; the error is more precise than the status.
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

/** The node's error is the answer to one call; what else went wrong concerns all of them. */
function keepRpcError(error: unknown): RpcError {
  if (error instanceof RpcError) return error;
  throw error;
}

/** Statuses that are more precise than their bodies. */
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
