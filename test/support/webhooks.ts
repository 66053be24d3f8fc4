import { createHmac } from "node:crypto";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { Db, Tx } from "../../src/db/database.ts";
import { assignEventSequences } from "../../src/event/assignEventSequences.ts";
import { appendEvents } from "../../src/event/store.ts";
import { addMs, systemClock, type Clock } from "../../src/kernel/clock.ts";
import { openOutbound } from "../../src/kernel/outbound/outbound.ts";
import { WebhookDeliverer } from "../../src/webhook/deliver.ts";
import { fanOut } from "../../src/webhook/fanOut.ts";
import { insertAccount, insertIntent } from "./intents.ts";
import { stationWorld } from "./stationWorld.ts";

/** A request that a receiver of webhooks got. */
export type Received = { id: string; headers: IncomingMessage["headers"]; body: string; event: ReceivedEvent };
export type ReceivedEvent = {
  id: string;
  type: string;
  sequence: number;
  intentId: string | null;
  data: { object: object };
};

/** What a receiver does with an event: a status, or the answer itself. */
export type Behaviour = (event: ReceivedEvent, response: ServerResponse) => number | undefined;

/** A real server that receives webhooks. */
export class Receiver {
  readonly received: Received[] = [];
  behave: Behaviour = () => 204;
  readonly #server: Server;

  constructor() {
    this.#server = createServer((request, response) => {
      let body = "";
      request.setEncoding("utf8");
      request.on("data", (chunk: string) => (body += chunk));
      request.on("end", () => this.#receive(request, { body, response }));
    });
  }

  async listen(): Promise<string> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#server.listen(0, "127.0.0.1", resolve);
    await promise;
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/hooks`;
  }

  close(): void {
    this.#server.closeAllConnections();
    this.#server.close();
  }

  #receive(request: IncomingMessage, { body, response }: { body: string; response: ServerResponse }): void {
    const event = JSON.parse(body) as ReceivedEvent;
    this.received.push({ id: String(request.headers["webhook-id"]), headers: request.headers, body, event });
    const status = this.behave(event, response);
    if (status !== undefined) response.writeHead(status).end("received");
  }
}

/** Whether a request carries a signature of this secret, by the text of Standard Webhooks. */
export function hasSignature({ headers, body }: Received, secret: Uint8Array): boolean {
  const signed = `${String(headers["webhook-id"])}.${String(headers["webhook-timestamp"])}.${body}`;
  const expected = `v1,${createHmac("sha256", secret).update(signed).digest("base64")}`;
  return String(headers["webhook-signature"]).split(" ").includes(expected);
}

/** A clock that tests move on by days; its waits are the real ones. */
export type MovableClock = Clock & { advance(durationMs: number): void };

function movableClock(): MovableClock {
  let aheadMs = 0;
  return {
    ...systemClock,
    now: () => addMs(systemClock.now(), aheadMs),
    monotonicMs: () => systemClock.monotonicMs() + Math.max(0, aheadMs),
    advance: (durationMs) => {
      aheadMs += durationMs;
    },
  };
}

/** The station webhook over a database, with real requests to servers of this machine. */
export function openWebhooks(db: Db, options: { timeoutMs?: number } = {}) {
  const clock = movableClock();
  const policy = { allowsHttp: true, allow: ["127.0.0.0/8"], deny: [] };
  const station = stationWorld(db);
  const config = { ...station.config, outbound: policy };
  const world = {
    ...station,
    config,
    clock,
    outbound: openOutbound({ policy, userAgent: "Tributary/test", ...options }),
  };
  const ending = new AbortController();
  const deliverer = new WebhookDeliverer(world);

  /** Does everything that is due now. */
  async function work(): Promise<void> {
    while (!(await assignEventSequences(world)).isDone);
    while (!(await fanOut(world)).isDone);
    do await deliverer.start(ending.signal);
    while (await drained());
    while (!(await assignEventSequences(world)).isDone);
  }

  /** Waits for the deliveries that run, and returns whether there were any. */
  async function drained(): Promise<boolean> {
    const count = deliverer.runningCount;
    await deliverer.drain();
    return count > 0;
  }

  async function appendChanges(accountId: string, changes: readonly { intentNumber: bigint | null; label: string }[]) {
    const events = changes.map(({ intentNumber, label }) => ({
      type: "account.updated" as const,
      accountId,
      intentNumber,
      livemode: false,
      object: { object: "change", label },
      previous: null,
    }));
    await db.transaction((tx: Tx) => appendEvents(tx, world, { events, at: clock.now() }));
  }

  return { world, clock, work, appendChanges, close: () => world.outbound.close() };
}

export async function insertAccountWithIntents(db: Db, count: number) {
  const accountId = await insertAccount(db);
  const intents = [];
  for (let index = 0; index < count; index += 1) intents.push(await insertIntent(db, { account_id: accountId }));
  return { accountId, intents };
}
