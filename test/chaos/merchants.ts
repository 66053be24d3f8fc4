import { setTimeout as delay } from "node:timers/promises";
import type { Hex } from "viem";
import type { SeededRandom } from "./seededRandom.ts";

// Merchants' servers during the kills: they create intents, repeat unanswered creates and read.

export type AcknowledgedIntent = {
  merchant: Merchant;
  intentId: string;
  inbox: Hex;
  reference: string;
  priceUnits: number | null;
  /** What the merchant kept. */
  response?: unknown;
};

export type Merchant = { name: string; apiKey: string; accountId: string };

/** A create, repeated with its key until it is answered. */
type CreateRequest = {
  key: string;
  body: { merchantReference: string } & Record<string, unknown>;
  priceUnits: number | null;
};

const PAUSE_MS = 60;
const ANSWER_MS_MAX = 10_000;

export type RequestCounts = {
  sent: number;
  unanswered: number;
  refused: string[];
  notFound: string[];
  /** How long each acknowledged create took. */
  createMs: number[];
};

export class MerchantClients {
  /** Acknowledged intents; clients of several services may share the list. */
  readonly acknowledged: AcknowledgedIntent[];
  readonly counts: RequestCounts = { sent: 0, unanswered: 0, refused: [], notFound: [], createMs: [] };
  #baseUrl: string;
  readonly #random: SeededRandom;
  readonly #pendingCreates = new Map<Merchant, CreateRequest>();
  #createCount = 0;

  constructor(baseUrl: string, random: SeededRandom, acknowledged: AcknowledgedIntent[] = []) {
    this.#baseUrl = baseUrl;
    this.#random = random;
    this.acknowledged = acknowledged;
  }

  /** Further requests go there, as those of a proxy do that has another target now. */
  moveTo(baseUrl: string): void {
    this.#baseUrl = baseUrl;
  }

  /** Creates and reads intents until aborted, also while the service is down. */
  async run(merchant: Merchant, signal: AbortSignal, pauseMs = PAUSE_MS): Promise<void> {
    while (!signal.aborted) {
      await this.create(merchant);
      const known = this.#random.pick(this.acknowledged.filter((one) => one.merchant === merchant));
      if (known) await this.read(known);
      await delay(pauseMs * (1 + this.#random.below(10)), undefined, { signal }).catch(() => undefined);
    }
  }

  /** Repeats the merchant's unanswered create, or sends a new one. */
  async create(merchant: Merchant): Promise<void> {
    const create = this.#pendingCreates.get(merchant) ?? this.#newCreateRequest(merchant);
    this.#pendingCreates.set(merchant, create);
    this.counts.sent += 1;
    const startedMs = performance.now();
    const answer = await this.#request(merchant, "/api/v1/intents", create);
    // A rate limit or an outage leaves the create unanswered, so it is repeated later.
    if (answer === undefined || answer.status === 429 || answer.status >= 500 || isUndecided(answer)) {
      this.counts.unanswered += 1;
      return;
    }
    this.#pendingCreates.delete(merchant);
    if (answer.status !== 201) {
      this.counts.refused.push(JSON.stringify(answer.body));
      return;
    }
    const { intentId, inboxAddress } = answer.body as { intentId: string; inboxAddress: Hex };
    this.counts.createMs.push(performance.now() - startedMs);
    const { merchantReference: reference } = create.body;
    this.acknowledged.push({
      merchant,
      intentId,
      inbox: inboxAddress,
      reference,
      priceUnits: create.priceUnits,
      response: answer.body,
    });
  }

  /** Reads an acknowledged intent; a 404 is a finding. */
  async read({ merchant, intentId }: AcknowledgedIntent): Promise<void> {
    const answer = await this.#request(merchant, `/api/v1/intents/${intentId}`);
    if (answer?.status === 404) this.counts.notFound.push(intentId);
  }

  #newCreateRequest(merchant: Merchant): CreateRequest {
    this.#createCount += 1;
    const number = this.#createCount;
    const reference = `create ${number} of ${merchant.name}`;
    // Half of the creates name their own wallet, so that the chain shows its payments; the rest use the account's
    // wallet.
    const priceUnits = this.#random.oneIn(2) ? 1_000_000 : null;
    const wallet = `0x${(0xabcd_0000 + number).toString(16).padStart(40, "1")}`;
    const body = {
      merchantReference: reference,
      ...(this.#random.oneIn(2) ? { payoutWallet: wallet } : {}),
      ...(priceUnits === null ? {} : { priceUnits, oneTime: true }),
    };
    return { key: `key ${number}`, body, priceUnits };
  }

  async #request(
    merchant: Merchant,
    path: string,
    create?: CreateRequest,
  ): Promise<{ status: number; body: unknown } | undefined> {
    try {
      const response = await fetch(`${this.#baseUrl}${path}`, {
        method: create ? "POST" : "GET",
        headers: {
          authorization: `Bearer ${merchant.apiKey}`,
          "service-version": "2026-11-01",
          ...(create ? { "content-type": "application/json", "idempotency-key": create.key } : {}),
        },
        ...(create ? { body: JSON.stringify(create.body) } : {}),
        signal: AbortSignal.timeout(ANSWER_MS_MAX),
      });
      return { status: response.status, body: await response.json() };
    } catch {
      // The connection was refused or closed before the end of the answer.
      return undefined;
    }
  }
}

/** In progress, or read for too long, as on a machine without time, which is answered like a broken request. */
function isUndecided({ status, body }: { status: number; body: unknown }): boolean {
  const error: object = Object(Reflect.get(Object(body), "error"));
  const [code, message] = [Reflect.get(error, "code"), String(Reflect.get(error, "message"))];
  return (status === 409 && code === "request_in_progress") || (status === 400 && message.includes("took too long"));
}
