// A process of its own, which outlives the one that started it for just as long as it takes to end anvil.
// The channel to the parent is the leash: the operating system closes it whenever the parent is gone,
// after kill -9 too, and then anvil is told to write its state and to go, and is killed if it lingers.
// It stands in a session of its own, so that Ctrl-C in the terminal reaches the parent alone,
// which may then end its chains last.
import { spawn } from "node:child_process";
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

export type WatchdogReport =
  | { kind: "listening"; pid: number; port: number }
  | { kind: "failed"; reason: string };

/** How long a predecessor, whose own parent was just killed, may take to let go of the state. */
const LOCK_WAIT_MS = 10_000;
/** Enough of what anvil says last to explain a failure, and no more. */
const OUTPUT_LENGTH_MAX = 2_000;

function report(message: WatchdogReport): void {
  // A parent that is gone reads nothing, and that is no error here.
  if (process.connected) process.send?.(message, () => undefined);
}

/** Returns the open database whose lock the operating system frees with this process. */
function holdLock(path: string): DatabaseSync {
  const database = new DatabaseSync(path, { timeout: LOCK_WAIT_MS });
  database.exec("pragma locking_mode = exclusive; begin exclusive; commit");
  return database;
}

/** Reads what anvil prints, to the end: a full pipe would stop it. */
function readOutput(anvil: ChildProcess): () => string {
  let output = "";
  let listening = false;
  const read = (chunk: Buffer) => {
    output = (output + chunk.toString()).slice(-OUTPUT_LENGTH_MAX);
    const port = listening ? undefined : /Listening on \S+:(\d+)/.exec(output)?.[1];
    if (port === undefined || anvil.pid === undefined) return;
    listening = true;
    report({ kind: "listening", pid: anvil.pid, port: Number(port) });
  };
  anvil.stdout?.on("data", read);
  anvil.stderr?.on("data", read);
  return () => output.trim();
}

function watch(order: WatchdogOrder): void {
  let lock: DatabaseSync | undefined;
  if (order.lockPath !== undefined) {
    try {
      lock = holdLock(order.lockPath);
    } catch (error) {
      report({ kind: "failed", reason: `another process holds ${order.lockPath} (${String(error)})` });
      process.disconnect();
      return;
    }
  }
  const anvil = spawn(order.binary, order.arguments, { stdio: ["ignore", "pipe", "pipe"] });
  const output = readOutput(anvil);
  let ending = false;
  const end = () => {
    if (ending) return;
    ending = true;
    if (order.graceMs > 0) anvil.kill("SIGTERM");
    void systemClock.sleep(order.graceMs).then(() => anvil.kill("SIGKILL"));
  };
  const leave = (reason: string) => {
    report({ kind: "failed", reason });
    lock?.close();
    process.exit(ending ? 0 : 1);
  };
  anvil.once("error", (error) => leave(error.message));
  anvil.once("close", () => leave(output()));
  process.once("disconnect", end);
  for (const signal of ["SIGTERM", "SIGINT", "SIGHUP"] as const) process.on(signal, end);
  // The parent may have died while this process was still starting.
  if (!process.connected) end();
}

watch(JSON.parse(process.argv[2] ?? "") as WatchdogOrder);
