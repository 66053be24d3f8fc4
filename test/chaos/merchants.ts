import { setTimeout as delay } from "node:timers/promises";
import type { Hex } from "viem";
import type { SeededRandom } from "./seededRandom.ts";

// What merchants' servers do while the service is killed over and over: they create intents, repeat what was not answered, and read.

export type AcknowledgedIntent = {
  merchant: Merchant;
  intentId: string;
  inbox: Hex;
  reference: string;
  priceUnits: number | null;
};

export type Merchant = { name: string; apiKey: string; accountId: string };

/** A create that is repeated with its key until it is answered. */
type CreateRequest = {
  key: string;
  body: { merchantReference: string } & Record<string, unknown>;
  priceUnits: number | null;
};

const PAUSE_MS = 60;
const ANSWER_MS_MAX = 10_000;

export type RequestCounts = { sent: number; unanswered: number; refused: string[]; notFound: string[] };

export class MerchantClients {
  /** What they were told of; those who ask at several doors may share it. */
  readonly acknowledged: AcknowledgedIntent[];
  readonly counts: RequestCounts = { sent: 0, unanswered: 0, refused: [], notFound: [] };
  readonly #baseUrl: string;
  readonly #random: SeededRandom;
  readonly #pendingCreates = new Map<Merchant, CreateRequest>();
  #createCount = 0;

  constructor(baseUrl: string, random: SeededRandom, acknowledged: AcknowledgedIntent[] = []) {
    this.#baseUrl = baseUrl;
    this.#random = random;
    this.acknowledged = acknowledged;
  }

  /** Creates, and reads what was acknowledged before, until told to stop; a service that is away is waited for. */
  async run(merchant: Merchant, signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      await this.create(merchant);
      const known = this.#random.pick(this.acknowledged.filter((one) => one.merchant === merchant));
      if (known) await this.read(known);
      await delay(PAUSE_MS * (1 + this.#random.below(10)), undefined, { signal }).catch(() => undefined);
    }
  }

  /** Asks for the intent that was last asked for without an answer, or else for a new one. */
  async create(merchant: Merchant): Promise<void> {
    const wish = this.#pendingCreates.get(merchant) ?? this.#newCreateRequest(merchant);
    this.#pendingCreates.set(merchant, wish);
    this.counts.sent += 1;
    const answer = await this.#request(merchant, "/api/v1/intents", wish);
    // A limit or an outage is no answer to what was asked: the same is asked again later.
    if (answer === undefined || answer.status === 429 || answer.status >= 500 || isInProgress(answer)) {
      this.counts.unanswered += 1;
      return;
    }
    this.#pendingCreates.delete(merchant);
    if (answer.status !== 201) {
      this.counts.refused.push(JSON.stringify(answer.body));
      return;
    }
    const { intentId, inboxAddress } = answer.body as { intentId: string; inboxAddress: Hex };
    const { merchantReference: reference } = wish.body;
    this.acknowledged.push({ merchant, intentId, inbox: inboxAddress, reference, priceUnits: wish.priceUnits });
  }

  /** An intent that was acknowledged once is there for ever. */
  async read({ merchant, intentId }: AcknowledgedIntent): Promise<void> {
    const answer = await this.#request(merchant, `/api/v1/intents/${intentId}`);
    if (answer?.status === 404) this.counts.notFound.push(intentId);
  }

  #newCreateRequest(merchant: Merchant): CreateRequest {
    this.#createCount += 1;
    const number = this.#createCount;
    const reference = `wish ${number} of ${merchant.name}`;
    // Half of them name a wallet of their own, so that the chain itself says what it was paid; the rest mint at the account's own.
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
    wish?: CreateRequest,
  ): Promise<{ status: number; body: unknown } | undefined> {
    try {
      const response = await fetch(`${this.#baseUrl}${path}`, {
        method: wish ? "POST" : "GET",
        headers: {
          authorization: `Bearer ${merchant.apiKey}`,
          "service-version": "2026-11-01",
          ...(wish ? { "content-type": "application/json", "idempotency-key": wish.key } : {}),
        },
        ...(wish ? { body: JSON.stringify(wish.body) } : {}),
        signal: AbortSignal.timeout(ANSWER_MS_MAX),
      });
      return { status: response.status, body: await response.json() };
    } catch {
      // The connection was refused, or ended in the middle of an answer.
      return undefined;
    }
  }
}

function isInProgress({ status, body }: { status: number; body: unknown }): boolean {
  const code: unknown = Reflect.get(Object(Reflect.get(Object(body), "error")), "code");
  return status === 409 && code === "request_in_progress";
}
