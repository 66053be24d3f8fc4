import type { RpcRequester } from "./rpcRequester.ts";
import { readField } from "../readField.ts";

// Public nodes ration requests. What they refuse for now is asked again, more slowly, before anybody hears that a chain
// does not answer.

export type PatientOptions = {
  readonly sleep: (ms: number) => Promise<void>;
  /** Before each pause: its length, and what was refused. */
  readonly onPause?: (ms: number, reason: string) => void;
};

/** Pauses before the second and each later attempt of a request that was refused as one too many. */
const REFUSAL_PAUSES_MS = [500, 1_000, 2_000, 4_000, 8_000, 16_000, 30_000] as const;
/** The same for one that got no answer in time: each attempt waits long already. */
const TIMEOUT_PAUSES_MS = [1_000, 4_000] as const;
const NO_PAUSES = [] as const;
/** Requests at a time, until the node refuses one. */
const CONCURRENT_MAX = 8;

const REFUSAL_CODES: readonly unknown[] = [429, -32_005, -32_007, -32_097];
const REFUSED =
  /\b429\b|rate.?limit|rate exceeded|too many request|requests? (?:per second|limit)|usage limit|capacity|throttl|quota/i;
const TIMED_OUT = /time[d-]?.?out|\b50[234]\b|socket|ECONNRESET|EPIPE|other side closed|failed to fetch/i;
/** A refusal of what was asked, not of how often: the same question gets the same answer. */
const TOO_WIDE = /\brange|\bresults?\b|\blogs\b|response size|block.?height|\btopics?\b/i;
/** Sent once too often they could confuse, so only a clear refusal repeats them. */
const SENDING: readonly string[] = ["eth_sendRawTransaction", "eth_sendTransaction", "sendTransaction"];

/** Why a request may succeed later; undefined for an answer that stays. */
type Refusal = "refused" | "timed out" | undefined;

/**
 * Repeats what a node refuses as one too many or does not answer in time, with growing pauses and fewer requests at a
 * time. Rejects with the last error after the last pause, and at once with any other error.
 */
export function createPatientRequester(request: RpcRequester, { sleep, onPause }: PatientOptions): RpcRequester {
  const slots = createSlots(CONCURRENT_MAX);
  /** All requests wait for the pause of one: the node counts them together. */
  let pause: Promise<void> = Promise.resolve();
  return async (method, params) => {
    for (let attempt = 0; ; attempt += 1) {
      await pause;
      await slots.acquire();
      try {
        return await request(method, params);
      } catch (error) {
        const refusal = classifyRefusal(error, method);
        const ms = pausesAfter(refusal)[attempt];
        if (ms === undefined) throw error;
        if (refusal === "refused") slots.halve();
        onPause?.(ms, describe(error));
        pause = Promise.all([pause, sleep(ms)]).then(() => undefined);
      } finally {
        slots.release();
      }
    }
  };
}

function pausesAfter(refusal: Refusal): readonly number[] {
  if (refusal === undefined) return NO_PAUSES;
  return refusal === "refused" ? REFUSAL_PAUSES_MS : TIMEOUT_PAUSES_MS;
}

export function classifyRefusal(error: unknown, method: string): Refusal {
  const text = describe(error);
  const kind = readField(error, "kind");
  if (kind === "rate_limited") return "refused";
  const isTooWide = TOO_WIDE.test(text) && !/rate|too many request/i.test(text);
  if (isTooWide) return undefined;
  if (REFUSAL_CODES.includes(readField(error, "code")) || REFUSED.test(text)) return "refused";
  if (SENDING.includes(method) || /revert|execution/i.test(text)) return undefined;
  return kind === "timeout" || readField(error, "name") === "TimeoutError" || TIMED_OUT.test(text)
    ? "timed out"
    : undefined;
}

type Slots = { acquire(): Promise<void>; release(): void; halve(): void };

/** Limits what runs at a time. */
function createSlots(max: number): Slots {
  let limit = max;
  let used = 0;
  const waiting: (() => void)[] = [];
  const admit = () => {
    while (used < limit) {
      const next = waiting.shift();
      if (next === undefined) return;
      used += 1;
      next();
    }
  };
  return {
    acquire: () =>
      new Promise((resolve) => {
        waiting.push(resolve);
        admit();
      }),
    release() {
      used -= 1;
      admit();
    },
    halve() {
      limit = Math.max(1, Math.floor(limit / 2));
    },
  };
}

function describe(error: unknown): string {
  const message = readField(error, "message");
  return typeof message === "string" ? message : String(error);
}
