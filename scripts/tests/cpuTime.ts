import { readdirSync, readFileSync } from "node:fs";
import process from "node:process";

/** Linux counts processor time in hundredths of a second. */
const MS_PER_TICK = 10;

/**
 * The processor time of this process and of all that it has started, ended ones included. It depends little on what
 * else the machine does. Without `/proc` only this process counts.
 */
export function cpuTimeMs(): number {
  return cpuTimeOfTree(process.pid) ?? ownCpuTimeMs();
}

/** The processor time of the processes that this one has started and that still run. */
export function cpuTimeOfChildrenMs(): number {
  const entries = readProcesses();
  return childrenOf(process.pid, entries).reduce((sum, { pid }) => sum + (cpuTimeOfTree(pid, entries) ?? 0), 0);
}

type ProcessEntry = { pid: number; parentId: number; cpuMs: number };

function cpuTimeOfTree(root: number, entries = readProcesses()): number | undefined {
  const top = entries.find(({ pid }) => pid === root);
  if (top === undefined) return undefined;
  const tree = [top];
  // The loop visits found children too, because it appends them behind their parent.
  for (const { pid } of tree) tree.push(...childrenOf(pid, entries));
  return tree.reduce((sum, { cpuMs }) => sum + cpuMs, 0);
}

function childrenOf(parent: number, entries: readonly ProcessEntry[]): ProcessEntry[] {
  return entries.filter(({ parentId }) => parentId === parent);
}

function readProcesses(): ProcessEntry[] {
  if (process.platform !== "linux") return [];
  return readdirSync("/proc").flatMap((name) => (/^\d+$/.test(name) ? readProcess(Number(name)) : []));
}

/**
 * Fields 14 to 17 are ticks in user and system mode, of the process and of its ended children. The name may contain
 * spaces.
 */
function readProcess(pid: number): ProcessEntry[] {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "latin1");
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    const ticks = fields.slice(11, 15).reduce((sum, field) => sum + Number(field), 0);
    return [{ pid, parentId: Number(fields[1]), cpuMs: ticks * MS_PER_TICK }];
  } catch {
    // It has ended since the folder was listed.
    return [];
  }
}

function ownCpuTimeMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1_000;
}
