import { API_VERSION, OPERATIONS, type Methods, type OperationId, type Route } from "./api.generated.ts";
import { sendWithRetries } from "./sendWithRetries.ts";

export type ClientOptions = {
  /** Where the service is reached, such as `https://pay.example`. */
  readonly baseUrl: string;
  /** The account's secret key. It belongs on a server, never in a page. */
  readonly apiKey: string;
  /** The date of your integration, `YYYY-MM-DD`; that of this release when left out. */
  readonly version?: string;
  /** How often a call is sent again at most; 4 when left out. */
  readonly retriesMax?: number;
  /** How long one try may take, in milliseconds; 30 seconds when left out. */
  readonly timeoutMs?: number;
  /** What sends the requests; the global fetch when left out. */
  readonly fetch?: typeof fetch;
};

export type CallOptions = {
  /** Ends the call and its waiting. */
  readonly signal?: AbortSignal | undefined;
  readonly timeoutMs?: number | undefined;
};

export type IdempotentCallOptions = CallOptions & {
  /**
   * One text for each thing that you want done, such as an order's number: a later call with it gets the first answer again.
   * Without one, a key is made for this call alone, so that its own retries do nothing twice.
   */
  readonly idempotencyKey?: string | undefined;
};

/** One method for each operation of the API. They need no `this`. */
export type TributaryClient = Methods<CallOptions, IdempotentCallOptions>;

const RETRIES_MAX_DEFAULT = 4;
const TIMEOUT_MS_DEFAULT = 30_000;

/** A client for one account. Its methods throw a TributaryError when a call does not succeed. */
export function createClient(options: ClientOptions): TributaryClient {
  const ids = Object.keys(OPERATIONS) as OperationId[];
  const methods = ids.map((operationId) => [operationId, createMethod(OPERATIONS[operationId], options)]);
  return Object.fromEntries(methods) as TributaryClient;
}

type CallArguments = { id?: unknown; query?: unknown; body?: unknown };

function createMethod(route: Route, client: ClientOptions): (...args: unknown[]) => Promise<unknown> {
  return async (...given) => {
    const callArguments: CallArguments = Object.fromEntries(route.takes.map((name, index) => [name, given[index]]));
    return callOperation(route, client, {
      taken: callArguments,
      options: (given[route.takes.length] ?? {}) as IdempotentCallOptions,
    });
  };
}

function callOperation(
  route: Route,
  client: ClientOptions,
  callInput: { taken: CallArguments; options: IdempotentCallOptions },
): Promise<unknown> {
  const { taken, options } = callInput;
  const key = route.isKeyed ? (options.idempotencyKey ?? crypto.randomUUID()) : undefined;
  const body = route.method === "POST" ? JSON.stringify(taken.body ?? {}) : undefined;
  return sendWithRetries({
    url: buildUrl(route, client, taken),
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

/** Of dots alone an address makes another path, also where they are encoded. */
function encodePathSegment(id: string): string {
  if (/^\.{0,2}$/.test(id)) throw new RangeError(`${JSON.stringify(id)} is no id.`);
  return encodeURIComponent(id);
}
