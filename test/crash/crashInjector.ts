// A process ends between two instructions, and what ends with it is everything but its database and its chain. A fuse stands
// before every effect of a world: where it blows, the process is over, and each later call of that world is refused.

/** Raised by everything that a process asks for after its end. */
export class ProcessCrashed extends Error {
  override readonly name = "ProcessCrashed";
}

/** The end of a process: before or after its nth step, counted from 1 among all of them or among those that leave something behind. */
export type CrashPoint = { scope: "all" | "effects"; nth: number; moment: "before" | "after" };

export type Step = {
  name: string;
  /** Whether something outside the process is different afterwards: a statement that is committed, bytes that are submitted. */
  isEffect: boolean;
  /** Whether it is a statement of an open transaction, whose locks others would wait for. */
  isInTransaction?: boolean;
};

export class CrashInjector {
  readonly #crashPoint: CrashPoint | undefined;
  #stepCounts = { all: 0, effects: 0 };
  #pendingSteps = new Set<Promise<unknown>>();
  /** The step at which it blew, for people. */
  crashedAt: string | undefined;

  constructor(end?: CrashPoint) {
    this.#crashPoint = end;
  }

  get hasCrashed(): boolean {
    return this.crashedAt !== undefined;
  }

  /** Throws when the process is over. */
  assertAlive(): void {
    if (this.hasCrashed) throw new ProcessCrashed(`the process ended ${this.crashedAt}`);
  }

  /** Takes a step, unless the process ended before it. An answer that comes after the end reaches nobody. */
  async runStep<T>(step: Step, take: () => Promise<T>): Promise<T> {
    this.assertAlive();
    this.#stepCounts.all += 1;
    if (step.isEffect) this.#stepCounts.effects += 1;
    const end = this.#crashPoint;
    const isHere =
      end !== undefined && (step.isEffect || end.scope === "all") && this.#stepCounts[end.scope] === end.nth;
    if (isHere && end.moment === "before") this.#crash(`before ${step.name}`);
    this.assertAlive();
    const taken = take();
    this.#pendingSteps.add(taken);
    try {
      return await taken;
    } finally {
      this.#pendingSteps.delete(taken);
      if (isHere) this.#crash(`after ${step.name}`);
      // eslint-disable-next-line no-unsafe-finally -- whatever came of the step, nobody is there to hear it.
      this.assertAlive();
    }
  }

  /** Resolves when nothing that was begun before the end is still under way. */
  async waitForPendingSteps(): Promise<void> {
    await Promise.allSettled(this.#pendingSteps);
  }

  #crash(where: string): void {
    this.crashedAt ??= where;
  }
}

/** A process that stands still before its nth step outside of transactions, as one does whose machine hangs, and then goes on. */
export class PauseInjector extends CrashInjector {
  readonly #nth: number;
  readonly #paused = Promise.withResolvers<void>();
  readonly #resumed = Promise.withResolvers<void>();
  #stepCount = 0;
  pausedAt: string | undefined;

  constructor(nth: number) {
    super();
    this.#nth = nth;
  }

  /** Resolves when it has fallen asleep. */
  get paused(): Promise<void> {
    return this.#paused.promise;
  }

  resume(): void {
    this.#resumed.resolve();
  }

  override async runStep<T>(step: Step, take: () => Promise<T>): Promise<T> {
    if (!step.isInTransaction) this.#stepCount += 1;
    if (this.#stepCount === this.#nth && this.pausedAt === undefined) {
      this.pausedAt = `before ${step.name}`;
      this.#paused.resolve();
      await this.#resumed.promise;
    }
    return super.runStep(step, take);
  }
}
