import { spawn, type ChildProcess } from "node:child_process";
import type { Socket } from "node:net";
import process from "node:process";

// A test process leads a process group, which the services that it starts belong to. A signal to the group ends all of
// them.

// The shell reads the running groups, the newest line counts. The operating system closes its input when the runner
// ends, even by kill -9. A session of its own shields it from Ctrl-C.
const WATCHDOG = `while read -r line; do groups=$line; done; for group in $groups; do kill -s KILL -- "-$group"; done 2>/dev/null`;

const PARENT_POLL_MS = 500;

const leaders = new Set<number>();
let watchdog: ChildProcess | undefined;

/** Makes the group of this leader end with this process, however that ends. */
export function addGroup(leader: ChildProcess): void {
  if (leader.pid === undefined) return;
  leaders.add(leader.pid);
  tellWatchdog();
}

/** Ends what a leader has left behind. */
export function removeGroup(leader: ChildProcess): void {
  if (leader.pid === undefined) return;
  endGroup(leader.pid);
  leaders.delete(leader.pid);
  tellWatchdog();
}

/** Ends all groups when a signal ends this process, or when npm has ended, which a kill -9 of npm does not tell. */
export function endGroupsWithRunner(): void {
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
    process.once(signal, () => {
      leaders.forEach(endGroup);
      process.kill(process.pid, signal);
    });
  }
  if (process.env["npm_lifecycle_event"] === undefined) return;
  const parentId = process.ppid;
  setInterval(() => process.ppid === parentId || process.kill(process.pid, "SIGTERM"), PARENT_POLL_MS).unref();
}

function endGroup(leader: number): void {
  try {
    process.kill(-leader, "SIGKILL");
  } catch {
    // Nothing of it is left.
  }
}

function tellWatchdog(): void {
  watchdog ??= startWatchdog();
  watchdog.stdin?.write(`${[...leaders].join(" ")}\n`);
}

function startWatchdog(): ChildProcess {
  const child = spawn("sh", ["-c", WATCHDOG], { detached: true, stdio: ["pipe", "ignore", "ignore"] });
  child.unref();
  // The pipe is a socket to Node, and must not keep this process alive.
  (child.stdin as Socket).unref();
  return child;
}
