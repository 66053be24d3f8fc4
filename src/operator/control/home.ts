import { chmodSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import type { ProcessEnvironment } from "../../config/config.ts";

// The folder in which commands find the running process. Only this user can read it, because the token in it grants
// every operator right.

/** The content of a run file. */
export type RunningProcess = {
  pid: number;
  socketPath: string;
  /** Authenticates operator commands. */
  token: string;
  baseUrl: string;
  /** The manifest that `tributary dev --json` prints; null for `tributary serve`. */
  ready: unknown;
};

export type ProcessKind = "dev" | "serve";

const RUN_FILE = /^(?:dev|serve)-(\d+)\.json$/;

export function resolveHome(environment: ProcessEnvironment): string {
  const home = environment["TRIBUTARY_HOME"];
  return home === undefined || home === "" ? join(homedir(), ".tributary") : home;
}

/** Creates the folder with access for this user only, and returns its path. */
export function openHome(environment: ProcessEnvironment): string {
  const home = resolveHome(environment);
  mkdirSync(home, { recursive: true, mode: 0o700 });
  chmodSync(home, 0o700);
  return home;
}

export function socketPathOf(home: string, pid: number): string {
  return join(home, `operator-${pid}.sock`);
}

/** Writes the run file atomically, so that readers never see an incomplete file. */
export function writeRunFile(home: string, kind: ProcessKind, running: RunningProcess): void {
  const draft = join(home, `.${kind}.${running.pid}`);
  writeFileSync(draft, `${JSON.stringify(running, undefined, 2)}\n`, { mode: 0o600 });
  renameSync(draft, runFileOf(home, kind, running.pid));
}

/** The processes that left a run file, the newest first. Files that are invalid are left out. */
export function readRunFiles(home: string): RunningProcess[] {
  const found = listFiles(home).flatMap((name) => {
    if (!RUN_FILE.test(name)) return [];
    try {
      const path = join(home, name);
      const value: unknown = JSON.parse(readFileSync(path, "utf8"));
      return isRunFile(value) ? [{ running: value, writtenAtMs: statSync(path).mtimeMs }] : [];
    } catch {
      // Its process ends just now.
      return [];
    }
  });
  return found.toSorted((one, other) => other.writtenAtMs - one.writtenAtMs).map(({ running }) => running);
}

export function removeRunFile(home: string, kind: ProcessKind, pid: number): void {
  rmSync(runFileOf(home, kind, pid), { force: true });
}

/** Each process has a file of its own, so that none hides another. */
function runFileOf(home: string, kind: ProcessKind, pid: number): string {
  return join(home, `${kind}-${pid}.json`);
}

/** Empty when there is no folder, or when it is not this user's. */
function listFiles(home: string): string[] {
  try {
    return readdirSync(home);
  } catch {
    return [];
  }
}

/** Removes the sockets and run files of processes that have ended. */
export function removeStaleFiles(home: string): void {
  for (const name of listFiles(home)) {
    const pid = Number((/^operator-(\d+)\.sock$/.exec(name) ?? RUN_FILE.exec(name))?.[1] ?? process.pid);
    if (!isAlive(pid)) rmSync(join(home, name), { force: true });
  }
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    // EPERM means that the process exists and belongs to another user.
    return error instanceof Error && "code" in error && error.code === "EPERM";
  }
}

function isRunFile(value: unknown): value is RunningProcess {
  if (typeof value !== "object" || value === null) return false;
  const hasStrings = ["socketPath", "token", "baseUrl"].every((key) => typeof Reflect.get(value, key) === "string");
  return hasStrings && typeof Reflect.get(value, "pid") === "number";
}
