import type { Tributary } from "@tributary/client";
import type { DepositRecord } from "../deposit/record.ts";
import type { IntentRecord } from "../intent/record.ts";
import { systemClock } from "../kernel/clock.ts";
import type { SettlementRecord } from "../settlement/record.ts";
import { answerTo } from "./api.ts";
import { CommandFailed } from "./command.ts";
import { knock } from "./door/knock.ts";
import type { Running } from "./home.ts";

/** One intent with all that has happened to it. */
export type Reading = { intent: IntentRecord; deposits: DepositRecord[]; settlements: SettlementRecord[] };

export type Reader = (intentId: string) => Promise<Reading>;

/** Reads as the operator, through the running process. */
export function readThroughDoor(running: Running): Reader {
  return async (intentId) => (await knock(running, "intents show", { intentId })) as Reading;
}

/** Reads as the merchant whose key it is. */
export function readThroughApi(api: Tributary): Reader {
  return async (intentId) => {
    const [deposits, settlements] = await Promise.all([
      answerTo(api.listIntentDeposits(intentId, { limit: 100 })),
      answerTo(api.listIntentSettlements(intentId, { limit: 100 })),
    ]);
    // Last, so that its sums hold at least what the two lists say has happened.
    const intent = await answerTo(api.getPaymentIntent(intentId));
    return { intent, deposits: deposits.data, settlements: settlements.data };
  };
}

export type WaitOptions = {
  /** What is waited for, as the sentence about its absence says it. */
  what: string;
  timeoutMs: number;
  intervalMs: number;
  onRead?(reading: Reading): void;
};

/**
 * Reads again and again until `isDone`.
 * @throws CommandFailed when that takes longer than `timeoutMs`.
 */
export async function waitUntil(
  read: () => Promise<Reading>,
  isDone: (reading: Reading) => boolean,
  options: WaitOptions,
): Promise<Reading> {
  const startedMs = systemClock.monotonicMs();
  for (;;) {
    const reading = await read();
    options.onRead?.(reading);
    if (isDone(reading)) return reading;
    if (systemClock.monotonicMs() - startedMs > options.timeoutMs) {
      throw new CommandFailed(`${options.what} did not happen within ${options.timeoutMs / 1_000} s.`);
    }
    await systemClock.sleep(options.intervalMs);
  }
}
