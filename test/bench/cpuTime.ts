import { spawnSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";

// CPU time and core affinity of processes. Both need Linux; elsewhere processes stay unbound and times are NaN.

const TICK_US = 10_000;

/** Binds a process and its future children to one core; returns false when that fails. */
export function bindToCore(processId: number, core: number): boolean {
  return spawnSync("taskset", ["-a", "-c", "-p", String(core), String(processId)]).status === 0;
}

/** Microseconds of CPU time of a process and its descendants so far; NaN when unavailable. */
export function cpuUsOf(processId: number): number {
  try {
    const tasks = readdirSync(`/proc/${processId}/task`).map((task) => `/proc/${processId}/task/${task}`);
    const ownUs = sum(tasks.map((task) => Number(read(`${task}/schedstat`).split(" ")[0]) / 1_000));
    const children = tasks.flatMap((task) => read(`${task}/children`).split(" ").filter(Boolean).map(Number));
    return ownUs + endedUs(processId) + sum(children.map(cpuUsOf).filter((us) => !Number.isNaN(us)));
  } catch {
    return Number.NaN;
  }
}

/** Microseconds of CPU time of a process's ended children. */
export function endedUs(processId: number): number {
  // After the name, which may contain any text, the fields start with the third.
  const fields = read(`/proc/${processId}/stat`).split(") ")[1]?.split(" ") ?? [];
  return (Number(fields[13]) + Number(fields[14])) * TICK_US;
}

function read(file: string): string {
  return readFileSync(file, "utf8");
}

function sum(figures: readonly number[]): number {
  return figures.reduce((all, figure) => all + figure, 0);
}
