import process from "node:process";
import type { Logger } from "pino";
import { systemTimer } from "../../kernel/clock.ts";

// Shutdown of the long-running commands.

/** Below the 30 seconds after which orchestrators kill. The next start resumes work that did not drain. */
const DRAIN_MS_MAX = 20_000;
const SIGINT_EXIT_CODE = 130;
/** A distinct code, because an operator must examine the log before the next start. */
const FATAL_EXIT_CODE = 70;

/** Returns a handler that logs a fatal error and exits at once: after a broken invariant, no further step is safe. */
export function exitOnFatal(log: Logger): (error: unknown) => void {
  return (error) => {
    log.fatal({ err: error }, "fatal error, process exits");
    process.exit(FATAL_EXIT_CODE);
  };
}

/** Treats uncaught errors and unhandled rejections as fatal from now on. */
export function exitOnUncaught(log: Logger): void {
  process.on("uncaughtException", exitOnFatal(log));
  process.on("unhandledRejection", exitOnFatal(log));
}

type ShutdownOptions = {
  /** Ends the wait too. */
  signal?: AbortSignal;
  /** SIGHUP ends what belongs to a terminal. A service goes on: it has no file to open again. */
  hangUp?: "end" | "ignore";
};

/** Resolves at the first SIGINT, SIGTERM or SIGHUP, or when `signal` aborts. A second signal exits at once. */
export function waitForShutdown({ signal, hangUp = "end" }: ShutdownOptions = {}): Promise<void> {
  return new Promise((resolve) => {
    let isStopping = false;
    const end = () => {
      if (isStopping) process.exit(SIGINT_EXIT_CODE);
      isStopping = true;
      resolve();
    };
    for (const name of ["SIGINT", "SIGTERM"] as const) process.on(name, end);
    process.on("SIGHUP", hangUp === "end" ? end : () => undefined);
    signal?.addEventListener("abort", () => resolve(), { once: true });
  });
}

/** Runs `stop` with a deadline. Resolves with false when it did not finish in time. */
export async function drain(stop: () => Promise<void>): Promise<boolean> {
  const timer = new AbortController();
  const drained = await Promise.race([
    stop().then(() => true),
    systemTimer.sleep(DRAIN_MS_MAX, timer.signal).then(() => false),
  ]);
  timer.abort();
  return drained;
}
