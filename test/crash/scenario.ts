import type { CrashSite } from "./databases.ts";
import { Fuse, SleepingFuse, type End } from "./fuse.ts";
import type { Outcome } from "./outcome.ts";
import { startProcess, type Process, type Surroundings } from "./process.ts";
import { openStage, Scene, type Stage } from "./stage.ts";

// One walk down the whole road: intents are created, paid, seen, counted, swept with a fee, and landed for good. A process may end anywhere
// on the way, and another one does what is left; or it falls asleep, and wakes when another one has done everything.

/** From payment to the close of the sweep's sending it takes about six turns; a put-off retry takes a few more. */
const TURNS_MAX = 60;

export type Walk = {
  outcome: Outcome;
  /** Where processes ended, or slept; undefined when none came that far. */
  endedAt: string | undefined;
};

export type Scenario = {
  /** Each process but the last one has its end. */
  walk(...ends: End[]): Promise<Walk>;
  /** A process sleeps before its nth step outside of transactions, and goes on when another one has done everything. */
  sleep(nth: number): Promise<Walk>;
  /** A process to whom nothing special happens but its end. */
  begin(end: End): Promise<Process>;
  /** What the checks of the books find. */
  findings(): Promise<string[]>;
  close(): Promise<void>;
};

export async function openScenario(site: CrashSite): Promise<Scenario> {
  const stage = await openStage(site);
  let walks = 0;
  return {
    walk: (...ends) => walkOnce(stage, (walks += 1), ends),
    sleep: (nth) => sleepOnce(stage, (walks += 1), nth),
    begin: (end) => startProcess(stage.around, new Fuse(end)),
    findings: () => stage.findings(),
    close: () => stage.close(),
  };
}

async function walkOnce(stage: Stage, number: number, ends: readonly End[]): Promise<Walk> {
  const lives = new Lives(stage.around, ends);
  const scene = await Scene.begin(stage, (work) => lives.do(work), number);
  for (let turns = 0; !(await scene.isOver()); turns += 1) {
    if (turns === TURNS_MAX) throw new Error(`not settled after ${turns} turns: ended ${lives.endedAt}`);
    await lives.do((process) => process.turn());
    scene.pass();
  }
  await lives.do((process) => process.turn());
  await lives.end();
  return { outcome: await scene.outcome(), endedAt: lives.endedAt };
}

async function sleepOnce(stage: Stage, number: number, nth: number): Promise<Walk> {
  const fuse = new SleepingFuse(nth);
  const sleeper = await startProcess(stage.around, fuse);
  const other = await startProcess(stage.around, new Fuse());
  const scene = await Scene.begin(stage, (work) => work(other), number);
  let turns = 0;
  const drive = async (process: Process, isDone: () => boolean) => {
    for (; !isDone() && !(await scene.isOver()); turns += 1) {
      if (turns === TURNS_MAX) throw new Error(`not settled after ${turns} turns: slept ${fuse.sleptAt}`);
      await process.turn();
      scene.pass();
    }
  };
  const sleeping = drive(sleeper, () => fuse.sleptAt !== undefined);
  await Promise.race([sleeping, fuse.asleep]);
  await drive(other, () => false);
  fuse.wake();
  await sleeping;
  for (const process of [sleeper, other]) await process.turn();
  for (const process of [sleeper, other]) await process.drop();
  return { outcome: await scene.outcome(), endedAt: fuse.sleptAt };
}

/** One process after another, each started when the one before is over. */
class Lives {
  readonly #around: Surroundings;
  readonly #ends: readonly End[];
  readonly #endedAt: string[] = [];
  #fuse: Fuse;
  #process: Process | undefined;

  constructor(around: Surroundings, ends: readonly End[]) {
    this.#around = around;
    this.#ends = ends;
    this.#fuse = new Fuse(ends[0]);
  }

  get endedAt(): string | undefined {
    return this.#endedAt.length === 0 ? undefined : this.#endedAt.join(", then ");
  }

  /** Does something, and once more in a new process when the one that did it ended meanwhile. */
  async do<T>(work: (process: Process) => Promise<T>): Promise<T> {
    for (let lives = 0; lives <= this.#ends.length; lives += 1) {
      this.#process ??= await startProcess(this.#around, this.#fuse);
      const answer = await work(this.#process).then(
        (value) => ({ value }),
        (error: unknown) => ({ error }),
      );
      if (!this.#fuse.isBlown) {
        if ("error" in answer) throw answer.error;
        return answer.value;
      }
      // Even an answer that seems to have come: nobody is there any more who could have heard it.
      await this.end();
    }
    throw new Error("more processes ended than were to end");
  }

  async end(): Promise<void> {
    if (this.#fuse.blownAt !== undefined) this.#endedAt.push(this.#fuse.blownAt);
    await this.#process?.drop();
    this.#process = undefined;
    this.#fuse = new Fuse(this.#ends[this.#endedAt.length]);
  }
}
