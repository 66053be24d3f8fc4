import type { Run } from "./simulation.ts";

/** Totals over many seeds. */
export class RunSummary {
  readonly #nowMs: () => number;
  readonly #cpu: (since?: NodeJS.CpuUsage) => NodeJS.CpuUsage;
  readonly #startedMs: number;
  readonly #startedCpu: NodeJS.CpuUsage;
  readonly #injected = new Map<string, number>();
  readonly #failed: Run[] = [];
  #seeds = 0;
  #deposits = 0;
  #settlements = 0;
  #virtualMs = 0;

  constructor(nowMs: () => number, cpu: (since?: NodeJS.CpuUsage) => NodeJS.CpuUsage) {
    this.#nowMs = nowMs;
    this.#cpu = cpu;
    this.#startedMs = nowMs();
    this.#startedCpu = cpu();
  }

  add(run: Run): void {
    this.#seeds += 1;
    this.#deposits += run.deposits;
    this.#settlements += run.settlements;
    this.#virtualMs += run.virtualMs;
    for (const [kind, times] of run.injected) this.#injected.set(kind, (this.#injected.get(kind) ?? 0) + times);
    if (run.violation) this.#failed.push(run);
  }

  text(): string {
    const minutes = (this.#nowMs() - this.#startedMs) / 60_000;
    const { user, system } = this.#cpu(this.#startedCpu);
    const cpuMinutes = (user + system) / 60_000_000;
    const count = (pattern: RegExp) =>
      this.#failed.filter(({ violation }) => pattern.test(violation?.rule ?? "")).length;
    const faults = [...this.#injected]
      .toSorted(([, a], [, b]) => b - a)
      .map(([kind, times]) => `  ${kind.padEnd(20)} ${String(times).padStart(7)}`);
    return [
      `faults met in ${this.#seeds} seeds, by kind:`,
      ...faults,
      `deposits ${this.#deposits}, settlements ${this.#settlements}, hours of virtual time ${(this.#virtualMs / 3_600_000).toFixed(1)}`,
      `lost ${count(/lost/)}, paid twice ${count(/twice|differs from its settlements/)}, violations ${this.#failed.length}${this.#failed.map(({ seed }) => ` #${seed}`).join("")}`,
      `seeds a minute: ${(this.#seeds / minutes).toFixed(0)} by the clock, ${(this.#seeds / cpuMinutes).toFixed(0)} a minute of processor time`,
    ].join("\n");
  }
}
