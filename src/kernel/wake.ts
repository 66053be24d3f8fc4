import type { Clock } from "./clock.ts";

// A loop sleeps until somebody tells it that a row is waiting, or until its interval has passed: the signal only saves time,
// and a lost one costs an interval, never a row.

export interface Wake {
  /** Says that rows may be waiting under `topic`. Never throws and never waits. */
  notify(topic: string): void;
  /** Resolves at the next notification of `topic` since the last wait, after `timeoutMs`, or when `signal` aborts. */
  wait(topic: string, options: { timeoutMs: number; signal: AbortSignal }): Promise<void>;
}

/**
 * Signals between the loops and the doors of one process. A notification that finds nobody waiting is kept until the next
 * wait of its topic, so that a row written between a loop's last look and its wait is seen at once.
 */
export function createWake(clock: Clock): Wake {
  // Topics are a handful of words in the program's own text, so neither collection grows with the work.
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
