import process from "node:process";
import type { Logger } from "pino";
import { systemClock } from "../../kernel/clock.ts";

// What the long-running commands have in common: how they end.

/** An orchestrator kills after 30 seconds; what has not drained by then is taken up by the next start. */
const DRAIN_MS_MAX = 20_000;
const SIGINT_EXIT_CODE = 130;
/** Told apart from every other end: whoever sees it must look before the process starts again. */
const FATAL_EXIT_CODE = 70;

/** Ends the process at once: its own reasoning is wrong, and every further step could be too. */
export function exitOnFatal(log: Logger): (error: unknown) => void {
  return (error) => {
    log.fatal({ err: error }, "the process cannot be trusted any more and ends");
    process.exit(FATAL_EXIT_CODE);
  };
}

/** From here on an error that nobody caught ends the process as a fatal one. */
export function exitOnUncaught(log: Logger): void {
  process.on("uncaughtException", exitOnFatal(log));
  process.on("unhandledRejection", exitOnFatal(log));
}

/** Resolves at the first signal to end, or when `signal` aborts; a second signal ends the process at once. */
export function waitForShutdown(signal?: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    let isStopping = false;
    const end = () => {
      if (isStopping) process.exit(SIGINT_EXIT_CODE);
      isStopping = true;
      resolve();
    };
    for (const name of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(name, end);
    signal?.addEventListener("abort", () => resolve(), { once: true });
  });
}

/** Stops with a deadline. False when something did not drain in time. */
export async function drain(stop: () => Promise<void>): Promise<boolean> {
  const timer = new AbortController();
  const drained = await Promise.race([
    stop().then(() => true),
    systemClock.sleep(DRAIN_MS_MAX, timer.signal).then(() => false),
  ]);
  timer.abort();
  return drained;
}
