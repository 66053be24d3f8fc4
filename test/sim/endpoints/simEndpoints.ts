import { OutboundFailure, type Outbound, type OutboundRequest } from "../../../src/kernel/outbound/outbound.ts";
import { createEndpoint } from "../../../src/webhook/endpoint/manageEndpoints.ts";
import type { World } from "../../../src/world.ts";
import type { SeededRandom } from "../seededRandom.ts";
import type { SimDatabase } from "../simDatabase.ts";
import type { SimProcess } from "../simProcess.ts";

// Receivers of webhooks, which answer, refuse, hang, redirect, vanish and lose answers until everything heals. Each
// must get every event of its account, unchanged, and those of an intent for the first time in their order.

const TIMEOUT_MS = 15_000;
/** How long one is not to be reached. */
const VANISH_MS_MAX = 240_000;
const KINDS = ["good", "errs", "hangs", "redirects", "vanishes", "losesAnswers"] as const;
type Kind = (typeof KINDS)[number];
const FAULT_SHARE = 0.35;

type Violation = { rule: string; subject: string };
type ReceivedEvent = { id: string; sequence: number; intentId: string | null };
type Endpoint = {
  kind: Kind;
  accountId: string;
  vanishedUntilMs: number;
  /** By id, as it came first. */
  bodies: Map<string, string>;
  received: ReceivedEvent[];
};

export class SimEndpoints {
  readonly #endpoints = new Map<string, Endpoint>();
  readonly #random: SeededRandom;
  readonly #violate: (violation: Violation) => void;
  isHealed = false;

  constructor(random: SeededRandom, violate: (violation: Violation) => void) {
    this.#random = random;
    this.#violate = violate;
  }

  /** Gives an account endpoints, one of which always answers. */
  async add(world: World, accountId: string): Promise<void> {
    for (const kind of ["good", this.#random.pick(KINDS), this.#random.pick(KINDS)] as const) {
      const url = `https://shop-${this.#endpoints.size}.example/hooks`;
      await createEndpoint(world, { accountId, input: { url } });
      this.#endpoints.set(url, { kind, accountId, vanishedUntilMs: 0, bodies: new Map(), received: [] });
    }
  }

  /** The way out of one process. */
  connect(process: SimProcess, assertCallAllowed: (call: string) => void): Outbound {
    return {
      post: async (request) => {
        assertCallAllowed("webhook");
        const startedMs = process.scheduler.nowMs;
        const fail = (reason: string): never => {
          const totalMs = Math.round(process.scheduler.nowMs - startedMs);
          throw new OutboundFailure(reason, { connectedMs: undefined, firstByteMs: undefined, totalMs });
        };
        await process.wait(5 + process.random.number() * 200);
        const status = await this.#answer(process, { request, fail });
        const totalMs = Math.round(process.scheduler.nowMs - startedMs);
        return { status, headers: {}, answer: new Uint8Array(), connectedMs: 1, firstByteMs: totalMs, totalMs };
      },
      close: () => Promise.resolve(),
    };
  }

  async #answer(
    process: SimProcess,
    { request, fail }: { request: OutboundRequest; fail: (reason: string) => never },
  ): Promise<number> {
    const endpoint = this.#endpoints.get(request.url);
    if (endpoint === undefined) return fail("no such name");
    const { nowMs } = process.scheduler;
    const isFaulty = !this.isHealed && endpoint.kind !== "good" && process.random.chance(FAULT_SHARE);
    const hang = async (reason: string) => {
      await process.wait(TIMEOUT_MS);
      return fail(reason);
    };
    if (!this.isHealed && endpoint.vanishedUntilMs > nowMs) return fail("connection refused");
    if (isFaulty && endpoint.kind === "errs") return 500;
    if (isFaulty && endpoint.kind === "redirects") return 302;
    if (isFaulty && endpoint.kind === "hangs") return hang("no complete answer");
    if (isFaulty && endpoint.kind === "vanishes") {
      endpoint.vanishedUntilMs = nowMs + process.random.number() * VANISH_MS_MAX;
      return fail("connection refused");
    }
    this.#receive(endpoint, request);
    return isFaulty ? hang("the answer is lost") : 200;
  }

  #receive(endpoint: Endpoint, { account, body, headers }: OutboundRequest): void {
    const event = JSON.parse(body) as ReceivedEvent;
    if (account !== endpoint.accountId || headers["webhook-id"] !== event.id)
      this.#violate({ rule: "a webhook reaches another account or has another id", subject: event.id });
    const first = endpoint.bodies.get(event.id);
    if (first !== undefined && first !== body)
      this.#violate({ rule: "a webhook changed between two tries", subject: event.id });
    if (first === undefined) endpoint.received.push(event);
    endpoint.bodies.set(event.id, body);
  }

  listUnfinished(database: SimDatabase): string[] {
    if (this.#endpoints.size === 0) return [];
    const [row] = database.rows(`select
      (select count(*) from event where sequence is null) + (select count(*) from webhook_endpoint where is_behind)
        + (select count(*) from webhook_delivery where status = 'pending') as count`) as { count: bigint }[];
    return row === undefined || row.count === 0n ? [] : [`${row.count} webhooks are not delivered`];
  }

  /** After everything has healed, each endpoint has got its account's feed. */
  check(database: SimDatabase): Violation[] {
    const feed = database.rows(`select account.id as account, event.sequence, encode(event.id, 'hex') as id
      from event join account on account.number = event.account_number order by 1, 2`) as {
      account: string;
      sequence: bigint;
    }[];
    return [...this.#endpoints].flatMap(([url, { accountId, received }]) => {
      const expected = feed.filter(({ account }) => account === accountId).map(({ sequence }) => Number(sequence));
      const gap = expected.find((sequence, index) => sequence !== index + 1);
      const got = new Set(received.map(({ sequence }) => sequence));
      const missing = expected.filter((sequence) => !got.has(sequence));
      return [
        ...(gap === undefined ? [] : [{ rule: "a feed has a gap", subject: `${accountId} before ${gap}` }]),
        ...(missing.length === 0
          ? []
          : [{ rule: "an event never arrived", subject: `${missing.slice(0, 5).join()} at ${url}` }]),
        ...findDisorder(received).map((subject) => ({
          rule: "an event overtook an earlier one of its intent",
          subject,
        })),
      ];
    });
  }
}

function findDisorder(received: readonly ReceivedEvent[]): string[] {
  const last = new Map<string, number>();
  return received.flatMap(({ id, intentId, sequence }) => {
    if (intentId === null) return [];
    const before = last.get(intentId) ?? 0;
    last.set(intentId, sequence);
    return sequence < before ? [id] : [];
  });
}
