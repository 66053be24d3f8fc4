// A process of its own, which outlives the one that started it for just as long as it takes to end anvil.
// The channel to the parent is the leash: the operating system closes it whenever the parent is gone,
// after kill -9 too, and then anvil is told to write its state and to go, and is killed if it lingers.
// It stands in a session of its own, so that Ctrl-C in the terminal reaches the parent alone,
// which may then end its chains last.
import { spawn, spawnSync } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { existsSync, mkdtempSync, renameSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { systemClock } from "../../kernel/clock.ts";
import { removeDuplicateGenesis } from "./removeDuplicateGenesis.ts";

export interface WatchdogOptions {
  binary: string;
  arguments: string[];
  /** Where the chain is kept; its lock is held while anvil runs, so that no two of them write one state. */
  stateDirectory?: string;
  /** How long anvil may take to write its state before it is killed. */
  graceMs: number;
}

export type WatchdogReport =
  | { kind: "listening"; pid: number; port: number; scratch: string }
  | { kind: "failed"; reason: string };

/** How long a predecessor, whose own parent was just killed, may take to let go of the state. */
const LOCK_WAIT_MS = 10_000;
/** Loading a long kept chain takes seconds; a start that takes longer than this never ends. */
const START_WAIT_MS = 60_000;
/** Enough of what anvil says last to explain a failure, and no more. */
const OUTPUT_LENGTH_MAX = 2_000;

/** Sends it, and then does `done`, also when the parent is gone and reads nothing. */
function sendReport(message: WatchdogReport, afterSend: () => void = () => undefined): void {
  if (process.connected) process.send?.(message, () => afterSend());
  else afterSend();
}

/** Returns the open database whose lock the operating system frees with this process. */
function acquireLock(directory: string): DatabaseSync {
  const database = new DatabaseSync(join(directory, "lock"), { timeout: LOCK_WAIT_MS });
  database.exec("pragma locking_mode = exclusive; begin exclusive; commit");
  return database;
}

/**
 * What anvil is told about its state, and what to do with it when anvil has ended well. Anvil writes the state in place, so that
 * a kill would leave half of it: it writes beside the last good one, which a whole one replaces.
 */
function prepareStateFiles(directory: string): { flags: string[]; replace: () => void } {
  const [kept, written] = [join(directory, "state.json"), join(directory, "state.next.json")];
  const flags = ["--dump-state", written];
  if (existsSync(kept)) flags.push("--load-state", kept);
  const replace = () => {
    if (!existsSync(written)) return;
    removeDuplicateGenesis(written);
    renameSync(written, kept);
  };
  return { flags, replace };
}

/**
 * Where the system offers it, the kernel itself ends anvil together with this process: somebody may kill parent and
 * watchdog at one stroke.
 */
function withParentDeathSignal(binary: string, flags: string[]): [string, string[]] {
  const setprivFlags = ["--pdeathsig", "TERM"];
  const isSupported = process.platform === "linux" && spawnSync("setpriv", [...setprivFlags, "true"]).status === 0;
  return isSupported ? ["setpriv", [...setprivFlags, binary, ...flags]] : [binary, flags];
}

/** Reads what anvil prints, to the end: a full pipe would stop it. */
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

function runAnvil(order: WatchdogOptions): void {
  const files = order.stateDirectory === undefined ? undefined : prepareStateFiles(order.stateDirectory);
  // Anvil's own place for past states is in the home directory, where it leaves them behind.
  const scratch = mkdtempSync(join(tmpdir(), "tributary-anvil-"));
  const flags = [...order.arguments, "--cache-path", scratch, ...(files?.flags ?? [])];
  const anvil = spawn(...withParentDeathSignal(order.binary, flags), { stdio: ["ignore", "pipe", "pipe"] });
  const listening = new AbortController();
  const output = readOutput(anvil, (port) => {
    listening.abort();
    sendReport({ kind: "listening", pid: anvil.pid ?? 0, port, scratch });
  });
  const stopping = new AbortController();
  const stopAnvil = () => {
    if (stopping.signal.aborted) return;
    stopping.abort();
    if (order.graceMs > 0) anvil.kill("SIGTERM");
    void systemClock.sleep(order.graceMs).then(() => anvil.kill("SIGKILL"));
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
  // The parent may have died while this process was still starting.
  if (!process.connected) stopAnvil();
  void systemClock.sleep(START_WAIT_MS, listening.signal).then(() => listening.signal.aborted || stopAnvil());
}

function runWatchdog(order: WatchdogOptions): void {
  try {
    const lock = order.stateDirectory === undefined ? undefined : acquireLock(order.stateDirectory);
    // An open database that nobody refers to would be collected, and its lock with it.
    process.once("exit", () => lock?.close());
  } catch (error) {
    const reason = `another process uses ${order.stateDirectory} (${String(error)})`;
    return sendReport({ kind: "failed", reason }, () => process.exit());
  }
  runAnvil(order);
}

runWatchdog(JSON.parse(process.argv[2] ?? "") as WatchdogOptions);
