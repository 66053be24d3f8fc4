import type {
  CheckoutInbox,
  CheckoutOrigins,
  CheckoutState,
  Handoff,
  RefusalReason,
  SessionResponse,
} from "../src/checkoutState.ts";

/** A line that carries nothing may never say so. */
const ANSWER_MS_MAX = 20_000;

export type OpeningCredential = { code: string } | { ticket: string } | { widgetToken: string };

/** The session request that the document's head has sent. */
export type Opening = {
  readonly isHandoff: boolean;
  readonly body: string;
  readonly response: Promise<Response | undefined>;
};

/** A request that failed: status 0 without an answer. */
export class RequestError extends Error {
  readonly status: number;
  readonly refusal: RefusalReason;
  constructor(status: number, refusal: RefusalReason) {
    super(`status ${status}`);
    this.status = status;
    this.refusal = refusal;
  }
}

/** The routes of one intent's page. The session is a cookie, or a bearer in memory. */
export class CheckoutApi {
  readonly #root: string;
  #bearer: string | null = null;
  /** The credential of a session whose cookie the browser may have dropped. */
  #credential: string | null = null;
  #reopened: Promise<boolean> | undefined;

  constructor(intentId: string) {
    this.#root = `/c/${intentId}`;
  }

  /** Whether a reload would lose the session. */
  get isInMemory(): boolean {
    return this.#bearer !== null;
  }

  /** Takes the answer to the head's request; a retry sends it again. */
  async openSession(opening: Opening, isRetry: boolean): Promise<SessionResponse> {
    const response = isRetry ? await this.#send("session", { body: opening.body }) : await opening.response;
    const session = await readJson<SessionResponse>(response);
    this.#bearer = session.bearer;
    if (session.bearer === null) this.#credential = opening.body;
    return session;
  }

  /** Opens the session once more, to be kept in memory. False where that is no way. */
  async #reopen(): Promise<boolean> {
    if (this.#credential === null) return false;
    const body = JSON.stringify({ ...(JSON.parse(this.#credential) as object), storage: "memory" });
    const response = await this.#send("session", { body });
    if (response?.ok !== true) return false;
    this.#bearer = ((await response.json()) as SessionResponse).bearer;
    return true;
  }

  async readState(): Promise<CheckoutState> {
    return readJson(await this.#send("state"));
  }

  async readOrigins(): Promise<CheckoutOrigins> {
    return readJson(await this.#send("origins"));
  }

  async issueInbox(originId: string): Promise<CheckoutInbox> {
    return readJson(await this.#send("source-inbox", { body: JSON.stringify({ originId }) }));
  }

  /** A hint that makes the service look sooner. Its failure changes nothing. */
  async reportView(originId: string | null): Promise<void> {
    await this.#send("view", { body: JSON.stringify(originId === null ? {} : { originId }) });
  }

  async createHandoff(): Promise<Handoff> {
    return readJson(await this.#send("handoff", { body: "{}" }));
  }

  /** Opens the stream of states, which goes on after `lastVersion`. */
  async openEvents(lastVersion: string | null, signal: AbortSignal): Promise<ReadableStream<Uint8Array<ArrayBuffer>>> {
    const headers = { accept: "text/event-stream", ...(lastVersion === null ? {} : { "last-event-id": lastVersion }) };
    const response = await this.#send("events", { headers, signal });
    if (response?.ok !== true || response.body === null) throw await requestError(response);
    return response.body;
  }

  async #send(
    path: string,
    options: { body?: string; headers?: Record<string, string>; signal?: AbortSignal } = {},
  ): Promise<Response | undefined> {
    const bearer = this.#bearer;
    const { body, headers = {}, signal = AbortSignal.timeout(ANSWER_MS_MAX) } = options;
    const init: RequestInit = {
      method: body === undefined ? "GET" : "POST",
      headers: {
        ...headers,
        ...(body === undefined ? {} : { "content-type": "application/json" }),
        ...(bearer === null ? {} : { authorization: `Bearer ${bearer}` }),
      },
      cache: "no-store",
      body: body ?? null,
      signal,
    };
    let response: Response;
    try {
      response = await fetch(`${this.#root}/${path}`, init);
    } catch {
      return undefined;
    }
    if (response.status !== 401 || path === "session" || bearer !== null) return response;
    // Several requests may find at once that the cookie is gone.
    this.#reopened ??= this.#reopen();
    return (await this.#reopened) ? this.#send(path, options) : response;
  }
}

async function readJson<T>(response: Response | undefined): Promise<T> {
  if (response?.ok !== true) throw await requestError(response);
  return (await response.json()) as T;
}

async function requestError(response: Response | undefined): Promise<RequestError> {
  if (response === undefined) return new RequestError(0, "expired");
  let refusal: RefusalReason = response.status === 404 ? "unknown" : "expired";
  try {
    const { error } = (await response.json()) as { error?: { details?: { reason?: RefusalReason } } };
    refusal = error?.details?.reason ?? refusal;
  } catch {
    // A proxy in between answers with something else.
  }
  return new RequestError(response.status, refusal);
}
