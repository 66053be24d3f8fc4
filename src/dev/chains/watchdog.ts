// A separate process that stops anvil when its parent ends. The operating system closes the channel to the parent
// whenever the parent ends, even by kill -9. The watchdog then sends SIGTERM to anvil, so that it writes its state,
// and SIGKILL after a grace period. It runs in its own session, so that Ctrl-C reaches only the parent, which stops its
// chains last.
import { spawn, spawnSync } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { existsSync, mkdtempSync, renameSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { systemTimer } from "../../kernel/clock.ts";
import { removeDuplicateGenesis } from "./removeDuplicateGenesis.ts";

export interface WatchdogOptions {
  binary: string;
  arguments: string[];
  /** Stores the chain here. A lock on the directory keeps two anvils from writing one state. */
  stateDirectory?: string;
  /** Time to write the state before SIGKILL. */
  graceMs: number;
}

export type WatchdogReport =
  | { kind: "listening"; pid: number; port: number; scratch: string }
  | { kind: "failed"; reason: string };

/** How long to wait for the lock while a previous watchdog still stops its anvil. */
const LOCK_WAIT_MS = 10_000;
/** Loading a long stored chain takes seconds. A longer start has failed. */
const START_WAIT_MS = 60_000;
/** Characters of anvil's last output that explain a failure. */
const OUTPUT_LENGTH_MAX = 2_000;

/** Sends a report, then calls `afterSend`, also when the parent has ended. */
function sendReport(message: WatchdogReport, afterSend: () => void = () => undefined): void {
  if (process.connected) process.send?.(message, () => afterSend());
  else afterSend();
}

/** Locks the directory with a SQLite database. The operating system releases the lock when this process ends. */
function acquireLock(directory: string): DatabaseSync {
  const database = new DatabaseSync(join(directory, "lock"), { timeout: LOCK_WAIT_MS });
  database.exec("pragma locking_mode = exclusive; begin exclusive; commit");
  return database;
}

/**
 * Returns anvil's flags for its state files, and `replace`, which installs the new state after a clean exit. Anvil
 * writes its state in place, and a kill would leave half of it. So anvil writes to a second file, which then replaces
 * the first.
 */
function prepareStateFiles(directory: string): { flags: string[]; replace: () => void } {
  const [current, next] = [join(directory, "state.json"), join(directory, "state.next.json")];
  const flags = ["--dump-state", next];
  if (existsSync(current)) flags.push("--load-state", current);
  const replace = () => {
    if (!existsSync(next)) return;
    removeDuplicateGenesis(next);
    renameSync(next, current);
  };
  return { flags, replace };
}

/** On Linux the kernel ends anvil together with this process, in case parent and watchdog are killed at once. */
function withParentDeathSignal(binary: string, flags: string[]): [string, string[]] {
  const setprivFlags = ["--pdeathsig", "TERM"];
  const isSupported = process.platform === "linux" && spawnSync("setpriv", [...setprivFlags, "true"]).status === 0;
  return isSupported ? ["setpriv", [...setprivFlags, binary, ...flags]] : [binary, flags];
}

/** Reads anvil's output until it ends, because a full pipe would block anvil. */
function readOutput(anvil: ChildProcess, listen: (port: number) => void): () => string {
  let output = "";
  let listening = false;
  const read = (chunk: Buffer) => {
    output = (output + chunk.toString()).slice(-OUTPUT_LENGTH_MAX);
    const port = listening ? undefined : /Listening on \S+:(\d+)/.exec(output)?.[1];
    if (port === undefined) return;
    listening = true;
    listen(Number(port));
  };
  anvil.stdout?.on("data", read);
  anvil.stderr?.on("data", read);
  return () => output.trim();
}

function runAnvil(options: WatchdogOptions): void {
  const files = options.stateDirectory === undefined ? undefined : prepareStateFiles(options.stateDirectory);
  // By default anvil leaves past states in the home directory.
  const scratch = mkdtempSync(join(tmpdir(), "tributary-anvil-"));
  const flags = [...options.arguments, "--cache-path", scratch, ...(files?.flags ?? [])];
  const anvil = spawn(...withParentDeathSignal(options.binary, flags), { stdio: ["ignore", "pipe", "pipe"] });
  const listening = new AbortController();
  const output = readOutput(anvil, (port) => {
    listening.abort();
    sendReport({ kind: "listening", pid: anvil.pid ?? 0, port, scratch });
  });
  const stopping = new AbortController();
  const stopAnvil = () => {
    if (stopping.signal.aborted) return;
    stopping.abort();
    if (options.graceMs > 0) anvil.kill("SIGTERM");
    void systemTimer.sleep(options.graceMs).then(() => anvil.kill("SIGKILL"));
  };
  const reportFailure = (reason: string) => sendReport({ kind: "failed", reason }, () => process.exit());
  anvil.once("error", (error) => reportFailure(error.message));
  anvil.once("close", (code) => {
    if (code === 0) files?.replace();
    reportFailure(output());
  });
  process.once("exit", () => rmSync(scratch, { recursive: true, force: true }));
  process.once("disconnect", stopAnvil);
  for (const signal of ["SIGTERM", "SIGINT", "SIGHUP"] as const) process.on(signal, stopAnvil);
  // The parent may have ended while this process started.
  if (!process.connected) stopAnvil();
  void systemTimer.sleep(START_WAIT_MS, listening.signal).then(() => listening.signal.aborted || stopAnvil());
}

function runWatchdog(options: WatchdogOptions): void {
  try {
    const lock = options.stateDirectory === undefined ? undefined : acquireLock(options.stateDirectory);
    // The reference keeps the garbage collector from closing the database and releasing the lock.
    process.once("exit", () => lock?.close());
  } catch (error) {
    const reason = `another process uses ${options.stateDirectory} (${String(error)})`;
    return sendReport({ kind: "failed", reason }, () => process.exit());
  }
  runAnvil(options);
}

runWatchdog(JSON.parse(process.argv[2] ?? "") as WatchdogOptions);
