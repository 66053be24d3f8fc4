import { isIP } from "node:net";
import { performance } from "node:perf_hooks";
import { Agent, type Dispatcher } from "undici";
import { isAddressAllowed, refusedAddress, type AddressPolicy } from "./addressPolicy.ts";
import { guardedConnector, hostOf } from "./dial.ts";
import { nameResolver, type ResolveName } from "./resolveName.ts";
import { SharedLookups } from "./sharedLookups.ts";

// The only way to URLs that merchants give. The address is checked on every connection, after the name was resolved and
// before anything is sent, and the connection is opened to that very address: a name that resolves differently later is
// checked again. Accounts share no connection and no queue, so that none waits for another one's receiver.

/** Of an answer, no more than this is read. */
const ANSWER_BYTES_MAX = 64 * 1024;
const TIMEOUT_MS = 15_000;
/** Accounts whose open connections are kept for the next request. */
const ACCOUNTS_MAX = 1_000;

export type OutboundRequest = {
  /** Whose URL it is: accounts share no connection. */
  readonly account: string;
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

export type OutboundOptions = {
  readonly policy: AddressPolicy;
  /** The header `user-agent` of every request. */
  readonly userAgent: string;
  /** Resolves a name to its addresses; name servers and the hosts file do by default. */
  readonly resolve?: ResolveName;
  /** Of a whole request: waiting, connecting, sending and reading. */
  readonly timeoutMs?: number;
};

export function openOutbound(options: OutboundOptions): Outbound {
  const { policy, userAgent, resolve = nameResolver(), timeoutMs = TIMEOUT_MS } = options;
  const agents = new AccountAgents({ policy, lookups: new SharedLookups(resolve), timeoutMs });
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
      return dispatch(agents.of(request.account), { url, request, userAgent, timeoutMs });
    },
    close: () => agents.close(),
  };
}

type AgentOptions = { policy: AddressPolicy; lookups: SharedLookups; timeoutMs: number };

/** The connections of each account. Those of the account whose last request is oldest are closed first. */
class AccountAgents {
  readonly #options: AgentOptions;
  readonly #agents = new Map<string, Agent>();

  constructor(options: AgentOptions) {
    this.#options = options;
  }

  of(account: string): Agent {
    const agent = this.#agents.get(account) ?? this.#open(account);
    this.#agents.delete(account);
    this.#agents.set(account, agent);
    return agent;
  }

  async close(): Promise<void> {
    await Promise.all([...this.#agents.values()].map((agent) => agent.destroy()));
  }

  /** Without a limit of connections: a request waits for none of the requests before it. */
  #open(account: string): Agent {
    const [[oldest, old] = []] = this.#agents.size >= ACCOUNTS_MAX ? this.#agents : [];
    if (oldest !== undefined) this.#agents.delete(oldest);
    // Open requests end first.
    void old?.close();
    const { policy, lookups, timeoutMs } = this.#options;
    const lookup = (hostname: string) => lookups.lookup(hostname, account);
    return new Agent({
      connect: guardedConnector({ policy, lookup, timeoutMs }),
      allowH2: false,
      headersTimeout: timeoutMs,
      bodyTimeout: timeoutMs,
    });
  }
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

type Exchange = { url: URL; request: OutboundRequest; userAgent: string; timeoutMs: number };

function dispatch(agent: Agent, exchange: Exchange): Promise<OutboundAnswer> {
  const { url, request, userAgent, timeoutMs } = exchange;
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
      headers: { "user-agent": userAgent, ...request.headers },
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
  #expiredFor: string | undefined;

  constructor(keptMax: number, outcome: Outcome) {
    this.#keptMax = keptMax;
    this.#outcome = outcome;
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    // It expired while it waited for a connection: nothing is sent any more.
    if (this.#expiredFor !== undefined) return controller.abort(new Error(this.#expiredFor));
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
    this.#expiredFor = reason;
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
