import type { Clock } from "./clock.ts";

// A loop sleeps until a notification or its interval. The notification only saves time: a lost one delays a row by an
// interval, and never loses the row.

export interface Wake {
  /** Signals that rows may be waiting under `topic`. It never throws and never blocks. */
  notify(topic: string): void;
  /** Resolves at the next notification of `topic` since the last wait, after `timeoutMs`, or when `signal` aborts. */
  wait(topic: string, options: { timeoutMs: number; signal: AbortSignal }): Promise<void>;
}

/**
 * Signals within one process, from writers to loops. A notification without a waiter is kept until the next wait of its
 * topic. So a row written between a loop's last read and its wait is handled at once.
 */
export function createWake(clock: Clock): Wake {
  // Topics are a fixed handful of names in the program's own text, so both collections stay small.
  const latched = new Set<string>();
  const waiting = new Map<string, Set<AbortController>>();

  function notify(topic: string): void {
    const waiters = waiting.get(topic);
    if (waiters === undefined) {
      latched.add(topic);
      return;
    }
    waiting.delete(topic);
    for (const waiter of waiters) waiter.abort();
  }

  async function wait(topic: string, { timeoutMs, signal }: { timeoutMs: number; signal: AbortSignal }): Promise<void> {
    if (latched.delete(topic) || signal.aborted) return;
    const waiter = new AbortController();
    const waiters = waiting.get(topic) ?? new Set();
    waiting.set(topic, waiters.add(waiter));
    const stop = () => waiter.abort();
    signal.addEventListener("abort", stop, { once: true });
    await clock.sleep(timeoutMs, waiter.signal);
    signal.removeEventListener("abort", stop);
    waiters.delete(waiter);
    if (waiters.size === 0 && waiting.get(topic) === waiters) waiting.delete(topic);
  }

  return { notify, wait };
}
