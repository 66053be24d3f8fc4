import { lookup as systemLookup } from "node:dns/promises";
import { isIP } from "node:net";
import { performance } from "node:perf_hooks";
import { Agent, buildConnector, type Dispatcher } from "undici";
import { isAddressAllowed, type AddressPolicy } from "./addressPolicy.ts";

// The only way to URLs that merchants give. The address is checked on every connection, after the name was resolved and
// before anything is sent, and the connection is opened to that very address: a name that resolves differently later is
// checked again.

/** Of an answer, no more than this is read. */
const ANSWER_BYTES_MAX = 64 * 1024;
const CONNECTIONS_MAX = 16;
const TIMEOUT_MS = 15_000;

export type OutboundRequest = {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /** How much of the answer is returned, in bytes. */
  readonly answerBytesMax: number;
};

/** Times in milliseconds since the request was made. */
export type OutboundPhases = {
  /** When the connection stood; undefined when none was opened. */
  readonly connectedMs: number | undefined;
  readonly firstByteMs: number | undefined;
  readonly totalMs: number;
};

export type OutboundAnswer = OutboundPhases & {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly answer: Uint8Array;
};

/** No answer came: the URL or its address is refused, the connection failed, or the time was over. */
export class OutboundFailure extends Error {
  override readonly name = "OutboundFailure";
  readonly phases: OutboundPhases;

  constructor(message: string, phases: OutboundPhases) {
    super(message);
    this.phases = phases;
  }
}

export interface Outbound {
  /** Posts to a URL of a merchant. Follows no redirect. Throws OutboundFailure. */
  post(request: OutboundRequest): Promise<OutboundAnswer>;
  /** Ends every open request. */
  close(): Promise<void>;
}

type ResolvedAddress = { readonly address: string };

export type OutboundOptions = {
  readonly policy: AddressPolicy;
  /** Resolves a name to its addresses; the operating system does by default. */
  readonly lookup?: (hostname: string) => Promise<readonly ResolvedAddress[]>;
  readonly timeoutMs?: number;
};

export function openOutbound(options: OutboundOptions): Outbound {
  const { policy, timeoutMs = TIMEOUT_MS } = options;
  const agent = new Agent({
    connect: guardedConnector(options),
    connections: CONNECTIONS_MAX,
    allowH2: false,
    headersTimeout: timeoutMs,
    bodyTimeout: timeoutMs,
  });
  return {
    async post(request) {
      const url = URL.parse(request.url);
      const refusal = refuseUrl(policy, url);
      if (url === null || refusal !== undefined)
        throw new OutboundFailure(refusal ?? "this is no URL", {
          connectedMs: undefined,
          firstByteMs: undefined,
          totalMs: 0,
        });
      return dispatch(agent, { url, request, timeoutMs });
    },
    close: () => agent.destroy(),
  };
}

/** Why requests to this URL are refused whatever its name resolves to; undefined when they are not. */
export function refuseUrl(policy: AddressPolicy, url: URL | null): string | undefined {
  if (url === null) return "this is no URL";
  if (url.protocol !== "https:" && !(policy.allowsHttp && url.protocol === "http:"))
    return policy.allowsHttp ? "the URL must begin with https:// or http://" : "the URL must begin with https://";
  if (url.username !== "" || url.password !== "") return "the URL must not contain a user name or a password";
  const host = hostOf(url.hostname);
  if (isIP(host) !== 0 && !isAddressAllowed(policy, host)) return refusedAddress(host);
  return undefined;
}

function refusedAddress(address: string): string {
  return `the address ${address} is not public`;
}

/** IPv6 addresses stand in brackets in a URL. */
function hostOf(hostname: string): string {
  return hostname.startsWith("[") ? hostname.slice(1, -1) : hostname;
}

/** Refuses a name when any of its addresses is refused: a mixed answer is an attempt to get past the check. */
function guardedConnector({ policy, lookup = lookupAll, timeoutMs = TIMEOUT_MS }: OutboundOptions) {
  const connect = buildConnector({ allowH2: false, timeout: timeoutMs });
  const findAddress = async (hostname: string) => {
    const addresses = isIP(hostname) === 0 ? await lookup(hostname) : [{ address: hostname }];
    const refused = addresses.find(({ address }) => !isAddressAllowed(policy, address));
    if (refused !== undefined) throw new Error(refusedAddress(refused.address));
    const [first] = addresses;
    if (first === undefined) throw new Error(`the name ${hostname} has no address`);
    return first.address;
  };
  return (target: buildConnector.Options, callback: buildConnector.Callback): void => {
    const name = hostOf(target.hostname);
    void (async () => {
      try {
        const address = await findAddress(name);
        const servername = isIP(name) === 0 && target.protocol === "https:" ? { servername: name } : {};
        connect({ ...target, ...servername, hostname: address }, callback);
      } catch (error) {
        callback(error instanceof Error ? error : new Error(String(error)), null);
      }
    })();
  };
}

function lookupAll(hostname: string): Promise<readonly ResolvedAddress[]> {
  return systemLookup(hostname, { all: true });
}

type Exchange = { url: URL; request: OutboundRequest; timeoutMs: number };

function dispatch(agent: Agent, exchange: Exchange): Promise<OutboundAnswer> {
  const { url, request, timeoutMs } = exchange;
  const { promise, resolve, reject } = Promise.withResolvers<OutboundAnswer>();
  const handler = new AnswerReader(request.answerBytesMax, { resolve, reject });
  const timeout = AbortSignal.timeout(timeoutMs);
  const onTimeout = () => handler.expire(`no complete answer within ${timeoutMs / 1_000} seconds`);
  timeout.addEventListener("abort", onTimeout);
  agent.dispatch(
    {
      origin: url.origin,
      path: `${url.pathname}${url.search}`,
      method: "POST",
      headers: { ...request.headers },
      body: request.body,
    },
    handler,
  );
  return promise.finally(() => timeout.removeEventListener("abort", onTimeout));
}

type Outcome = { resolve(answer: OutboundAnswer): void; reject(failure: OutboundFailure): void };

/** Once the status has come, it is the answer: a body that is too long or never ends only loses its rest. */
class AnswerReader implements Dispatcher.DispatchHandler {
  readonly #keptMax: number;
  readonly #outcome: Outcome;
  readonly #startedMs = performance.now();
  readonly #kept: Buffer[] = [];
  #readBytes = 0;
  #connectedMs: number | undefined;
  #firstByteMs: number | undefined;
  #status: number | undefined;
  #headers: Record<string, string | undefined> = {};
  #controller: Dispatcher.DispatchController | undefined;

  constructor(keptMax: number, outcome: Outcome) {
    this.#keptMax = keptMax;
    this.#outcome = outcome;
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    this.#connectedMs = this.#elapsed();
  }

  onResponseStart(
    _controller: Dispatcher.DispatchController,
    status: number,
    headers: Record<string, string | string[] | undefined>,
  ): void {
    if (status < 200) return;
    this.#firstByteMs = this.#elapsed();
    this.#status = status;
    const single = Object.entries(headers).map(([name, value]) => [name, Array.isArray(value) ? value[0] : value]);
    this.#headers = Object.fromEntries(single) as Record<string, string | undefined>;
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    const missing = this.#keptMax - this.#kept.reduce((sum, { length }) => sum + length, 0);
    if (missing > 0) this.#kept.push(Buffer.from(chunk.subarray(0, missing)));
    this.#readBytes += chunk.length;
    if (this.#readBytes <= ANSWER_BYTES_MAX) return;
    this.#answer();
    controller.abort(new Error("the answer is longer than is read"));
  }

  onResponseEnd(): void {
    this.#answer();
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    this.expire(error.message);
  }

  expire(reason: string): void {
    if (this.#status === undefined) this.#outcome.reject(new OutboundFailure(reason, this.#phases()));
    else this.#answer();
    this.#controller?.abort(new Error(reason));
  }

  #answer(): void {
    if (this.#status === undefined) return;
    const answer = Buffer.concat(this.#kept);
    this.#outcome.resolve({ ...this.#phases(), status: this.#status, headers: this.#headers, answer });
  }

  #phases(): OutboundPhases {
    return { connectedMs: this.#connectedMs, firstByteMs: this.#firstByteMs, totalMs: this.#elapsed() };
  }

  #elapsed(): number {
    return Math.round(performance.now() - this.#startedMs);
  }
}
