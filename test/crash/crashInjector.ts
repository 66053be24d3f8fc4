// A process crashes between two instructions, and only its database and its chain remain. The injector runs before
// every effect of a world. After the crash it refuses each later call of that world.

/** Thrown by every call of a crashed process. */
export class ProcessCrashed extends Error {
  override readonly name = "ProcessCrashed";
}

/** A crash before or after the nth step, counted from 1 among all steps or among those with an effect. */
export type CrashPoint = { scope: "all" | "effects"; nth: number; moment: "before" | "after" };

export type Step = {
  name: string;
  /** Whether it changes anything outside the process: a committed statement, or submitted bytes. */
  isEffect: boolean;
  /** Whether it is a statement of an open transaction, whose locks others would wait for. */
  isInTransaction?: boolean;
};

export class CrashInjector {
  readonly #crashPoint: CrashPoint | undefined;
  #stepCounts = { all: 0, effects: 0 };
  #pendingSteps = new Set<Promise<unknown>>();
  /** The step of the crash, for messages. */
  crashedAt: string | undefined;

  constructor(end?: CrashPoint) {
    this.#crashPoint = end;
  }

  get hasCrashed(): boolean {
    return this.crashedAt !== undefined;
  }

  /** Throws when the process has crashed. */
  assertAlive(): void {
    if (this.hasCrashed) throw new ProcessCrashed(`the process crashed ${this.crashedAt}`);
  }

  /** Runs a step unless the process has crashed. An answer after the crash is discarded. */
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
      // eslint-disable-next-line no-unsafe-finally -- a crash discards the result of the step.
      this.assertAlive();
    }
  }

  /** Resolves when all steps from before the crash have finished. */
  async waitForPendingSteps(): Promise<void> {
    await Promise.allSettled(this.#pendingSteps);
  }

  #crash(where: string): void {
    this.crashedAt ??= where;
  }
}

/** Pauses a process before its nth step outside of transactions, as a hanging machine does, and then resumes it. */
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

  /** Resolves when the process is paused. */
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
