// A process ends between two instructions, and what ends with it is everything but its database and its chain. A fuse stands
// before every effect of a world: where it blows, the process is over, and each later call of that world is refused.

/** Raised by everything that a process asks for after its end. */
export class Crashed extends Error {
  override readonly name = "Crashed";
}

/** The end of a process: before or after its nth step, counted from 1 among all of them or among those that leave something behind. */
export type End = { among: "all" | "effects"; nth: number; moment: "before" | "after" };

export type Step = {
  name: string;
  /** Whether something outside the process is different afterwards: a statement that is committed, bytes that are submitted. */
  isEffect: boolean;
  /** Whether it is a statement of an open transaction, whose locks others would wait for. */
  isInTransaction?: boolean;
};

export class Fuse {
  readonly #end: End | undefined;
  #passed = { all: 0, effects: 0 };
  #underWay = new Set<Promise<unknown>>();
  /** The step at which it blew, for people. */
  blownAt: string | undefined;

  constructor(end?: End) {
    this.#end = end;
  }

  get isBlown(): boolean {
    return this.blownAt !== undefined;
  }

  /** Throws when the process is over. */
  assertAlive(): void {
    if (this.isBlown) throw new Crashed(`the process ended ${this.blownAt}`);
  }

  /** Takes a step, unless the process ended before it. An answer that comes after the end reaches nobody. */
  async pass<T>(step: Step, take: () => Promise<T>): Promise<T> {
    this.assertAlive();
    this.#passed.all += 1;
    if (step.isEffect) this.#passed.effects += 1;
    const end = this.#end;
    const isHere = end !== undefined && (step.isEffect || end.among === "all") && this.#passed[end.among] === end.nth;
    if (isHere && end.moment === "before") this.#blow(`before ${step.name}`);
    this.assertAlive();
    const taken = take();
    this.#underWay.add(taken);
    try {
      return await taken;
    } finally {
      this.#underWay.delete(taken);
      if (isHere) this.#blow(`after ${step.name}`);
      // eslint-disable-next-line no-unsafe-finally -- whatever came of the step, nobody is there to hear it.
      this.assertAlive();
    }
  }

  /** Resolves when nothing that was begun before the end is still under way. */
  async rest(): Promise<void> {
    await Promise.allSettled(this.#underWay);
  }

  #blow(where: string): void {
    this.blownAt ??= where;
  }
}

/** A process that stands still before its nth step outside of transactions, as one does whose machine hangs, and then goes on. */
export class SleepingFuse extends Fuse {
  readonly #nth: number;
  readonly #asleep = Promise.withResolvers<void>();
  readonly #awake = Promise.withResolvers<void>();
  #passed = 0;
  sleptAt: string | undefined;

  constructor(nth: number) {
    super();
    this.#nth = nth;
  }

  /** Resolves when it has fallen asleep. */
  get asleep(): Promise<void> {
    return this.#asleep.promise;
  }

  wake(): void {
    this.#awake.resolve();
  }

  override async pass<T>(step: Step, take: () => Promise<T>): Promise<T> {
    if (!step.isInTransaction) this.#passed += 1;
    if (this.#passed === this.#nth && this.sleptAt === undefined) {
      this.sleptAt = `before ${step.name}`;
      this.#asleep.resolve();
      await this.#awake.promise;
    }
    return super.pass(step, take);
  }
}
