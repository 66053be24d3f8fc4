// A process of its own, which outlives the one that started it for just as long as it takes to end anvil.
// The channel to the parent is the leash: the operating system closes it whenever the parent is gone,
// after kill -9 too, and then anvil is told to write its state and to go, and is killed if it lingers.
// It stands in a session of its own, so that Ctrl-C in the terminal reaches the parent alone,
// which may then end its chains last.
import { spawn, spawnSync } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { DatabaseSync } from "node:sqlite";
import { systemClock } from "../../kernel/clock.ts";

export interface WatchdogOrder {
  binary: string;
  arguments: string[];
  /** A file whose lock is held while anvil runs, so that no two of them write one state. */
  lockPath?: string;
  /** How long anvil may take to write its state before it is killed. */
  graceMs: number;
}

export type WatchdogReport = { kind: "listening"; pid: number; port: number } | { kind: "failed"; reason: string };

/** How long a predecessor, whose own parent was just killed, may take to let go of the state. */
const LOCK_WAIT_MS = 10_000;
/** Loading a long kept chain takes seconds; a start that takes longer than this never ends. */
const START_WAIT_MS = 60_000;
/** Enough of what anvil says last to explain a failure, and no more. */
const OUTPUT_LENGTH_MAX = 2_000;

/** Sends it, and then does `done`, also when the parent is gone and reads nothing. */
function report(message: WatchdogReport, done: () => void = () => undefined): void {
  if (process.connected) process.send?.(message, () => done());
  else done();
}

/** Returns the open database whose lock the operating system frees with this process. */
function holdLock(path: string): DatabaseSync {
  const database = new DatabaseSync(path, { timeout: LOCK_WAIT_MS });
  database.exec("pragma locking_mode = exclusive; begin exclusive; commit");
  return database;
}

/**
 * Where the system offers it, the kernel itself ends anvil together with this process: somebody may kill parent and
 * watchdog at one stroke.
 */
function leashed({ binary, arguments: flags }: WatchdogOrder): [string, string[]] {
  const leash = ["--pdeathsig", "TERM"];
  const offered = process.platform === "linux" && spawnSync("setpriv", [...leash, "true"]).status === 0;
  return offered ? ["setpriv", [...leash, binary, ...flags]] : [binary, flags];
}

/** Reads what anvil prints, to the end: a full pipe would stop it. */
function readOutput(anvil: ChildProcess, listening: AbortController): () => string {
  let output = "";
  const read = (chunk: Buffer) => {
    output = (output + chunk.toString()).slice(-OUTPUT_LENGTH_MAX);
    if (listening.signal.aborted || anvil.pid === undefined) return;
    const port = /Listening on \S+:(\d+)/.exec(output)?.[1];
    if (port === undefined) return;
    listening.abort();
    report({ kind: "listening", pid: anvil.pid, port: Number(port) });
  };
  anvil.stdout?.on("data", read);
  anvil.stderr?.on("data", read);
  return () => output.trim();
}

function runAnvil(order: WatchdogOrder): void {
  const anvil = spawn(...leashed(order), { stdio: ["ignore", "pipe", "pipe"] });
  const listening = new AbortController();
  const output = readOutput(anvil, listening);
  const ending = new AbortController();
  const end = () => {
    if (ending.signal.aborted) return;
    ending.abort();
    if (order.graceMs > 0) anvil.kill("SIGTERM");
    void systemClock.sleep(order.graceMs).then(() => anvil.kill("SIGKILL"));
  };
  const leave = (reason: string) => report({ kind: "failed", reason }, () => process.exit());
  anvil.once("error", (error) => leave(error.message));
  anvil.once("close", () => leave(output()));
  process.once("disconnect", end);
  for (const signal of ["SIGTERM", "SIGINT", "SIGHUP"] as const) process.on(signal, end);
  // The parent may have died while this process was still starting.
  if (!process.connected) end();
  void systemClock.sleep(START_WAIT_MS, listening.signal).then(() => listening.signal.aborted || end());
}

function watch(order: WatchdogOrder): void {
  try {
    const lock = order.lockPath === undefined ? undefined : holdLock(order.lockPath);
    // An open database that nobody refers to would be collected, and its lock with it.
    process.once("exit", () => lock?.close());
  } catch (error) {
    const reason = `another process holds ${order.lockPath} (${String(error)})`;
    return report({ kind: "failed", reason }, () => process.exit());
  }
  runAnvil(order);
}

watch(JSON.parse(process.argv[2] ?? "") as WatchdogOrder);
