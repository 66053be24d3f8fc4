import type { TributaryClient } from "@tributary/client";
import { systemTimer } from "../../kernel/clock.ts";
import { withApiError } from "./apiClient.ts";
import { CommandError } from "../errors.ts";
import { callControl } from "../control/callControl.ts";
import type { RunningProcess } from "../control/home.ts";
import type { IntentSnapshot } from "../intentOperations.ts";

export type SnapshotReader = (intentId: string) => Promise<IntentSnapshot>;

/** Reads as the operator, through the control socket of the running process. */
export function readViaControl(running: RunningProcess): SnapshotReader {
  return (intentId) => callControl(running, "intents show", { intentId });
}

/** Reads as a merchant, through the API. */
export function readViaApi(api: TributaryClient): SnapshotReader {
  return async (intentId) => {
    const [deposits, settlements] = await Promise.all([
      withApiError(api.listIntentDeposits(intentId, { limit: 100 })),
      withApiError(api.listIntentSettlements(intentId, { limit: 100 })),
    ]);
    // The intent is read last, so that its sums include every row of the two lists.
    const intent = await withApiError(api.getPaymentIntent(intentId));
    return { intent, deposits: deposits.data, settlements: settlements.data };
  };
}

export type PollOptions = {
  /** Subject of the timeout error, such as "Counting the deposit". */
  description: string;
  timeoutMs: number;
  intervalMs: number;
  onRead?(snapshot: IntentSnapshot): void;
};

/**
 * Reads every `intervalMs` until `isDone` returns true, and resolves with that snapshot.
 * @throws CommandError after `timeoutMs`.
 */
export async function pollUntil(
  read: () => Promise<IntentSnapshot>,
  isDone: (snapshot: IntentSnapshot) => boolean,
  options: PollOptions,
): Promise<IntentSnapshot> {
  const startedMs = systemTimer.monotonicMs();
  for (;;) {
    const snapshot = await read();
    options.onRead?.(snapshot);
    if (isDone(snapshot)) return snapshot;
    if (systemTimer.monotonicMs() - startedMs > options.timeoutMs) {
      throw new CommandError(`${options.description} took longer than ${options.timeoutMs / 1_000} s.`);
    }
    await systemTimer.sleep(options.intervalMs);
  }
}
