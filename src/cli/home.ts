import { chmodSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import type { Environment } from "../config.ts";

// Where a running process can be found by the commands beside it. The folder and everything in it are the user's alone, for
// whoever can read them may do what the operator may.

/** What a running process leaves in `dev.json` or `serve.json`. */
export type Running = {
  pid: number;
  socketPath: string;
  /** Whoever knows it is the operator. */
  token: string;
  baseUrl: string;
  /** What `tributary dev --json` prints; null beside `tributary serve`. */
  ready: unknown;
};

export type RunningKind = "dev" | "serve";

export function homeOf(environment: Environment): string {
  const home = environment["TRIBUTARY_HOME"];
  return home === undefined || home === "" ? join(homedir(), ".tributary") : home;
}

/** The folder, made for this user alone. */
export function openHome(environment: Environment): string {
  const home = homeOf(environment);
  mkdirSync(home, { recursive: true, mode: 0o700 });
  chmodSync(home, 0o700);
  return home;
}

export function socketPathOf(home: string, pid: number): string {
  return join(home, `operator-${pid}.sock`);
}

/** Puts the whole file in place at once, so that nobody reads half of one. */
export function writeRunning(home: string, kind: RunningKind, running: Running): void {
  const draft = join(home, `.${kind}.${running.pid}`);
  writeFileSync(draft, `${JSON.stringify(running, undefined, 2)}\n`, { mode: 0o600 });
  renameSync(draft, join(home, `${kind}.json`));
}

/** Undefined when there is none, or one that no program of ours has written. */
export function readRunning(home: string, kind: RunningKind): Running | undefined {
  try {
    const value: unknown = JSON.parse(readFileSync(join(home, `${kind}.json`), "utf8"));
    return isRunning(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** Takes the file away unless a process that started later has put its own there. */
export function removeRunning(home: string, kind: RunningKind, pid: number): void {
  if (readRunning(home, kind)?.pid === pid) rmSync(join(home, `${kind}.json`), { force: true });
}

function isRunning(value: unknown): value is Running {
  if (typeof value !== "object" || value === null) return false;
  const texts = ["socketPath", "token", "baseUrl"].every((key) => typeof Reflect.get(value, key) === "string");
  return texts && typeof Reflect.get(value, "pid") === "number";
}
