import { API_VERSION, OPERATIONS, type Methods, type OperationId, type Route } from "./api.generated.ts";
import { sendWithRetries } from "./sendWithRetries.ts";

export type ClientOptions = {
  /** The URL of the service, such as `https://pay.example`. */
  readonly baseUrl: string;
  /** The account's secret key. It belongs on a server, never in a page. */
  /** From the environment it may be undefined; createClient then throws. */
  readonly apiKey: string | undefined;
  /** The date of your integration, `YYYY-MM-DD`; this release's version by default. */
  readonly version?: string;
  /** The most retries of a call; 4 by default. */
  readonly retriesMax?: number;
  /** The timeout of one attempt, in milliseconds; 30 seconds by default. */
  readonly timeoutMs?: number;
  /** The function that sends requests; the global fetch by default. */
  readonly fetch?: typeof fetch;
};

export type CallOptions = {
  /** Aborts the call and its retries. */
  readonly signal?: AbortSignal | undefined;
  readonly timeoutMs?: number | undefined;
};

export type IdempotentCallOptions = CallOptions & {
  /**
   * A text that identifies the operation, such as an order number: a later call with the same key gets the first
   * response. By default each call gets a key of its own, which covers only its own retries.
   */
  readonly idempotencyKey?: string | undefined;
};

/** One method for each operation of the API. Methods do not depend on `this`. */
export type TributaryClient = Methods<CallOptions, IdempotentCallOptions>;

const RETRIES_MAX_DEFAULT = 4;
const TIMEOUT_MS_DEFAULT = 30_000;

/** Creates a client for one account. Its methods throw a TributaryError when a call fails. */
export function createClient(options: ClientOptions): TributaryClient {
  if (options.apiKey === undefined || options.apiKey === "") throw new TypeError("createClient needs an apiKey.");
  const ids = Object.keys(OPERATIONS) as OperationId[];
  const methods = ids.map((operationId) => [operationId, createMethod(OPERATIONS[operationId], options)]);
  return Object.fromEntries(methods) as TributaryClient;
}

type CallArguments = { id?: unknown; query?: unknown; body?: unknown };

function createMethod(route: Route, client: ClientOptions): (...args: unknown[]) => Promise<unknown> {
  return async (...args) => {
    const callArguments: CallArguments = Object.fromEntries(route.takes.map((name, index) => [name, args[index]]));
    return callOperation(route, client, {
      input: callArguments,
      options: (args[route.takes.length] ?? {}) as IdempotentCallOptions,
    });
  };
}

function callOperation(
  route: Route,
  client: ClientOptions,
  callInput: { input: CallArguments; options: IdempotentCallOptions },
): Promise<unknown> {
  const { input, options } = callInput;
  const key = route.isKeyed ? (options.idempotencyKey ?? crypto.randomUUID()) : undefined;
  const body = route.method !== "GET" ? JSON.stringify(input.body ?? {}) : undefined;
  return sendWithRetries({
    url: buildUrl(route, client, input),
    method: route.method,
    headers: {
      accept: "application/json",
      authorization: `Bearer ${client.apiKey}`,
      "service-version": client.version ?? API_VERSION,
      ...(body === undefined ? {} : { "content-type": "application/json" }),
      ...(key === undefined ? {} : { "idempotency-key": key }),
    },
    body,
    isRetrySafe: route.isRepeatable || key !== undefined,
    retriesMax: client.retriesMax ?? RETRIES_MAX_DEFAULT,
    timeoutMs: options.timeoutMs ?? client.timeoutMs ?? TIMEOUT_MS_DEFAULT,
    signal: options.signal,
    fetch: client.fetch ?? fetch,
  });
}

function buildUrl({ path }: Route, { baseUrl }: ClientOptions, { id, query }: CallArguments): string {
  const filled = path.replace("{id}", () => encodePathSegment(String(id)));
  const pairs = Object.entries((query ?? {}) as Record<string, unknown>).filter(
    (pair): pair is [string, string | number] => typeof pair[1] === "string" || typeof pair[1] === "number",
  );
  const search = new URLSearchParams(pairs.map(([name, value]) => [name, String(value)])).toString();
  return `${baseUrl.replace(/\/+$/, "")}${filled}${search === "" ? "" : `?${search}`}`;
}

/** An id that consists of dots would change the path, even when encoded. */
function encodePathSegment(id: string): string {
  if (/^\.{0,2}$/.test(id)) throw new RangeError(`${JSON.stringify(id)} is not an id.`);
  return encodeURIComponent(id);
}
