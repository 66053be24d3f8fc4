import { chmodSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import type { ProcessEnvironment } from "../../config/config.ts";

// The folder in which commands find the running process. Only this user can read it, because the token in it grants
// every operator right.

/** The content of the run file, `dev.json` or `serve.json`. */
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
  renameSync(draft, join(home, `${kind}.json`));
}

/** Returns undefined when the file is missing or invalid. */
export function readRunFile(home: string, kind: ProcessKind): RunningProcess | undefined {
  try {
    const value: unknown = JSON.parse(readFileSync(join(home, `${kind}.json`), "utf8"));
    return isRunFile(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** Removes this process's run file. If it replaced the file of a process that still runs, that file is restored. */
export function removeRunFile(
  home: string,
  kind: ProcessKind,
  owner: { pid: number; previous: RunningProcess | undefined },
): void {
  if (readRunFile(home, kind)?.pid !== owner.pid) return;
  if (owner.previous !== undefined && isAlive(owner.previous.pid)) writeRunFile(home, kind, owner.previous);
  else rmSync(join(home, `${kind}.json`), { force: true });
}

/** Removes the sockets of processes that have ended. */
export function removeStaleSockets(home: string): void {
  for (const name of readdirSync(home)) {
    const pid = Number(/^operator-(\d+)\.sock$/.exec(name)?.[1] ?? process.pid);
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
