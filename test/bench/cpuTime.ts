import { spawnSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";

// What a process costs, and where it runs. Both are Linux's; elsewhere nothing is bound and nothing is counted.

const TICK_US = 10_000;

/** Binds a process, with what it starts from now on, to one core; false where that cannot be done. */
export function bindToCore(processId: number, core: number): boolean {
  return spawnSync("taskset", ["-a", "-c", "-p", String(core), String(processId)]).status === 0;
}

/** Microseconds of processor time that a process and all that it has started have used so far; NaN where it is not told. */
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

/** Microseconds that those whom a process has started and seen end had used. */
export function endedUs(processId: number): number {
  // Behind the name, which may hold anything, the fields stand from the third on.
  const fields = read(`/proc/${processId}/stat`).split(") ")[1]?.split(" ") ?? [];
  return (Number(fields[13]) + Number(fields[14])) * TICK_US;
}

function read(file: string): string {
  return readFileSync(file, "utf8");
}

function sum(figures: readonly number[]): number {
  return figures.reduce((all, figure) => all + figure, 0);
}
