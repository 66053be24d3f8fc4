import { chmodSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import type { ProcessEnvironment } from "../../config/config.ts";

// Where a running process can be found by the commands beside it. The folder and everything in it are the user's alone, for
// whoever can read them may do what the operator may.

/** What a running process leaves in `dev.json` or `serve.json`. */
export type RunningProcess = {
  pid: number;
  socketPath: string;
  /** Whoever knows it is the operator. */
  token: string;
  baseUrl: string;
  /** What `tributary dev --json` prints; null beside `tributary serve`. */
  ready: unknown;
};

export type ProcessKind = "dev" | "serve";

export function resolveHome(environment: ProcessEnvironment): string {
  const home = environment["TRIBUTARY_HOME"];
  return home === undefined || home === "" ? join(homedir(), ".tributary") : home;
}

/** The folder, made for this user alone. */
export function openHome(environment: ProcessEnvironment): string {
  const home = resolveHome(environment);
  mkdirSync(home, { recursive: true, mode: 0o700 });
  chmodSync(home, 0o700);
  return home;
}

export function socketPathOf(home: string, pid: number): string {
  return join(home, `operator-${pid}.sock`);
}

/** Puts the whole file in place at once, so that nobody reads half of one. */
export function writeRunFile(home: string, kind: ProcessKind, running: RunningProcess): void {
  const draft = join(home, `.${kind}.${running.pid}`);
  writeFileSync(draft, `${JSON.stringify(running, undefined, 2)}\n`, { mode: 0o600 });
  renameSync(draft, join(home, `${kind}.json`));
}

/** Undefined when there is none, or one that no program of ours has written. */
export function readRunFile(home: string, kind: ProcessKind): RunningProcess | undefined {
  try {
    const value: unknown = JSON.parse(readFileSync(join(home, `${kind}.json`), "utf8"));
    return isRunFile(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** Takes our own word back. Where we had taken the place of a process that is still there, it is found again. */
export function removeRunFile(
  home: string,
  kind: ProcessKind,
  owner: { pid: number; before: RunningProcess | undefined },
): void {
  if (readRunFile(home, kind)?.pid !== owner.pid) return;
  if (owner.before !== undefined && isAlive(owner.before.pid)) writeRunFile(home, kind, owner.before);
  else rmSync(join(home, `${kind}.json`), { force: true });
}

/** Removes the sockets of processes that were killed before they could. */
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
    // A process of somebody else's that we may not ask is there all the same.
    return error instanceof Error && "code" in error && error.code === "EPERM";
  }
}

function isRunFile(value: unknown): value is RunningProcess {
  if (typeof value !== "object" || value === null) return false;
  const texts = ["socketPath", "token", "baseUrl"].every((key) => typeof Reflect.get(value, key) === "string");
  return texts && typeof Reflect.get(value, "pid") === "number";
}
