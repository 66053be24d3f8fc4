import type { TributaryClient } from "@tributary/client";
import type { DepositRecord } from "../../deposit/depositRecord.ts";
import type { IntentRecord } from "../../intent/intentRecord.ts";
import { systemClock } from "../../kernel/clock.ts";
import type { SettlementRecord } from "../../settlement/settlementRecord.ts";
import { withApiError } from "./apiClient.ts";
import { CommandError } from "../errors.ts";
import { callControl } from "../control/callControl.ts";
import type { RunningProcess } from "../control/home.ts";

/** One intent with all that has happened to it. */
export type IntentSnapshot = { intent: IntentRecord; deposits: DepositRecord[]; settlements: SettlementRecord[] };

export type SnapshotReader = (intentId: string) => Promise<IntentSnapshot>;

/** Reads as the operator, through the running process. */
export function readViaControl(running: RunningProcess): SnapshotReader {
  return async (intentId) => (await callControl(running, "intents show", { intentId })) as IntentSnapshot;
}

/** Reads as the merchant whose key it is. */
export function readViaApi(api: TributaryClient): SnapshotReader {
  return async (intentId) => {
    const [deposits, settlements] = await Promise.all([
      withApiError(api.listIntentDeposits(intentId, { limit: 100 })),
      withApiError(api.listIntentSettlements(intentId, { limit: 100 })),
    ]);
    // Last, so that its sums hold at least what the two lists say has happened.
    const intent = await withApiError(api.getPaymentIntent(intentId));
    return { intent, deposits: deposits.data, settlements: settlements.data };
  };
}

export type PollOptions = {
  /** What is waited for, as the sentence about its absence says it. */
  description: string;
  timeoutMs: number;
  intervalMs: number;
  onRead?(reading: IntentSnapshot): void;
};

/**
 * Reads again and again until `isDone`.
 * @throws CommandError when that takes longer than `timeoutMs`.
 */
export async function pollUntil(
  read: () => Promise<IntentSnapshot>,
  isDone: (reading: IntentSnapshot) => boolean,
  options: PollOptions,
): Promise<IntentSnapshot> {
  const startedMs = systemClock.monotonicMs();
  for (;;) {
    const reading = await read();
    options.onRead?.(reading);
    if (isDone(reading)) return reading;
    if (systemClock.monotonicMs() - startedMs > options.timeoutMs) {
      throw new CommandError(`${options.description} did not happen within ${options.timeoutMs / 1_000} s.`);
    }
    await systemClock.sleep(options.intervalMs);
  }
}
