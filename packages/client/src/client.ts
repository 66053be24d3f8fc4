import { API_VERSION, OPERATIONS, type Methods, type OperationId, type Route } from "./api.generated.ts";
import { send } from "./send.ts";

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

export type KeyedOptions = CallOptions & {
  /**
   * One text for each thing that you want done, such as an order's number: a later call with it gets the first answer again.
   * Without one, a key is made for this call alone, so that its own retries do nothing twice.
   */
  readonly idempotencyKey?: string | undefined;
};

/** One method for each operation of the API. They need no `this`. */
export type Tributary = Methods<CallOptions, KeyedOptions>;

const RETRIES_MAX_DEFAULT = 4;
const TIMEOUT_MS_DEFAULT = 30_000;

/** A client for one account. Its methods throw a TributaryError when a call does not succeed. */
export function createClient(options: ClientOptions): Tributary {
  const ids = Object.keys(OPERATIONS) as OperationId[];
  const methods = ids.map((operationId) => [operationId, methodOf(OPERATIONS[operationId], options)]);
  return Object.fromEntries(methods) as Tributary;
}

type Taken = { id?: unknown; query?: unknown; body?: unknown };

function methodOf(route: Route, client: ClientOptions): (...given: unknown[]) => Promise<unknown> {
  return async (...given) => {
    const taken: Taken = Object.fromEntries(route.takes.map((name, index) => [name, given[index]]));
    return call(route, client, { taken, options: (given[route.takes.length] ?? {}) as KeyedOptions });
  };
}

function call(route: Route, client: ClientOptions, given: { taken: Taken; options: KeyedOptions }): Promise<unknown> {
  const { taken, options } = given;
  const key = route.isKeyed ? (options.idempotencyKey ?? crypto.randomUUID()) : undefined;
  const body = route.method === "POST" ? JSON.stringify(taken.body ?? {}) : undefined;
  return send({
    url: urlOf(route, client, taken),
    method: route.method,
    headers: {
      accept: "application/json",
      authorization: `Bearer ${client.apiKey}`,
      "service-version": client.version ?? API_VERSION,
      ...(body === undefined ? {} : { "content-type": "application/json" }),
      ...(key === undefined ? {} : { "idempotency-key": key }),
    },
    body,
    isRepeatable: route.isRepeatable || key !== undefined,
    retriesMax: client.retriesMax ?? RETRIES_MAX_DEFAULT,
    timeoutMs: options.timeoutMs ?? client.timeoutMs ?? TIMEOUT_MS_DEFAULT,
    signal: options.signal,
    fetch: client.fetch ?? fetch,
  });
}

function urlOf({ path }: Route, { baseUrl }: ClientOptions, { id, query }: Taken): string {
  const filled = path.replace("{id}", () => segmentOf(String(id)));
  const pairs = Object.entries((query ?? {}) as Record<string, unknown>).filter(
    (pair): pair is [string, string | number] => typeof pair[1] === "string" || typeof pair[1] === "number",
  );
  const search = new URLSearchParams(pairs.map(([name, value]) => [name, String(value)])).toString();
  return `${baseUrl.replace(/\/+$/, "")}${filled}${search === "" ? "" : `?${search}`}`;
}

/** Of dots alone an address makes another path, also where they are encoded. */
function segmentOf(id: string): string {
  if (/^\.{0,2}$/.test(id)) throw new RangeError(`${JSON.stringify(id)} is no id.`);
  return encodeURIComponent(id);
}
