// A loop sleeps until somebody tells it that a row is waiting, or until its interval has passed: the signal only saves time,
// and a lost one costs an interval, never a row.

export interface Wake {
  /** Says that rows may be waiting under `topic`. Never throws and never waits. */
  notify(topic: string): void;
  /** Resolves at the next notification of `topic` since the last wait, after `timeoutMs`, or when `signal` aborts. */
  wait(topic: string, options: { timeoutMs: number; signal: AbortSignal }): Promise<void>;
}
