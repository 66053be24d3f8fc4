import type { CrashDatabase } from "./crashDatabase.ts";
import { CrashInjector, PauseInjector, type CrashPoint } from "./crashInjector.ts";
import type { Outcome } from "./outcome.ts";
import { startProcess, type CrashableProcess, type CrashEnvironment } from "./crashableProcess.ts";
import { openCrashContext, IntentScenario, type CrashContext } from "./crashContext.ts";

// One walk down the whole road: intents are created, paid, seen, counted, swept with a fee, and landed for good. A process may end anywhere
// on the way, and another one does what is left; or it falls asleep, and wakes when another one has done everything.

/** From payment to the close of the sweep's sending it takes about six turns; a put-off retry takes a few more. */
const TICKS_MAX = 60;

export type ScenarioResult = {
  outcome: Outcome;
  /** Where processes ended, or slept; undefined when none came that far. */
  interruptedAt: string | undefined;
};

export type Scenario = {
  /** Each process but the last one has its end. */
  runWithCrashes(...ends: CrashPoint[]): Promise<ScenarioResult>;
  /** A process sleeps before its nth step outside of transactions, and goes on when another one has done everything. */
  runWithPause(nth: number): Promise<ScenarioResult>;
  /** A process to whom nothing special happens but its end. */
  startProcess(end: CrashPoint): Promise<CrashableProcess>;
  /** What the checks of the books find. */
  findings(): Promise<string[]>;
  close(): Promise<void>;
};

export async function openScenario(site: CrashDatabase): Promise<Scenario> {
  const stage = await openCrashContext(site);
  let walks = 0;
  return {
    runWithCrashes: (...ends) => runWithCrashes(stage, (walks += 1), ends),
    runWithPause: (nth) => runWithPause(stage, (walks += 1), nth),
    startProcess: (end) => startProcess(stage.environment, new CrashInjector(end)),
    findings: () => stage.findings(),
    close: () => stage.close(),
  };
}

async function runWithCrashes(
  stage: CrashContext,
  number: number,
  ends: readonly CrashPoint[],
): Promise<ScenarioResult> {
  const lives = new ProcessSequence(stage.environment, ends);
  const scene = await IntentScenario.start(stage, (work) => lives.run(work), number);
  for (let turns = 0; !(await scene.isFinished()); turns += 1) {
    if (turns === TICKS_MAX) throw new Error(`not settled after ${turns} turns: ended ${lives.crashedAt}`);
    await lives.run((process) => process.tick());
    scene.advanceTime();
  }
  await lives.run((process) => process.tick());
  await lives.closeProcess();
  return { outcome: await scene.outcome(), interruptedAt: lives.crashedAt };
}

async function runWithPause(stage: CrashContext, number: number, nth: number): Promise<ScenarioResult> {
  const fuse = new PauseInjector(nth);
  const pausedProcess = await startProcess(stage.environment, fuse);
  const other = await startProcess(stage.environment, new CrashInjector());
  const scene = await IntentScenario.start(stage, (work) => work(other), number);
  let turns = 0;
  const drive = async (process: CrashableProcess, isDone: () => boolean) => {
    for (; !isDone() && !(await scene.isFinished()); turns += 1) {
      if (turns === TICKS_MAX) throw new Error(`not settled after ${turns} turns: slept ${fuse.pausedAt}`);
      await process.tick();
      scene.advanceTime();
    }
  };
  const sleeping = drive(pausedProcess, () => fuse.pausedAt !== undefined);
  await Promise.race([sleeping, fuse.paused]);
  await drive(other, () => false);
  fuse.resume();
  await sleeping;
  for (const process of [pausedProcess, other]) await process.tick();
  for (const process of [pausedProcess, other]) await process.close();
  return { outcome: await scene.outcome(), interruptedAt: fuse.pausedAt };
}

/** One process after another, each started when the one before is over. */
class ProcessSequence {
  readonly #environment: CrashEnvironment;
  readonly #crashPoints: readonly CrashPoint[];
  readonly #crashedAt: string[] = [];
  #injector: CrashInjector;
  #process: CrashableProcess | undefined;

  constructor(around: CrashEnvironment, ends: readonly CrashPoint[]) {
    this.#environment = around;
    this.#crashPoints = ends;
    this.#injector = new CrashInjector(ends[0]);
  }

  get crashedAt(): string | undefined {
    return this.#crashedAt.length === 0 ? undefined : this.#crashedAt.join(", then ");
  }

  /** Does something, and once more in a new process when the one that did it ended meanwhile. */
  async run<T>(work: (process: CrashableProcess) => Promise<T>): Promise<T> {
    for (let lives = 0; lives <= this.#crashPoints.length; lives += 1) {
      this.#process ??= await startProcess(this.#environment, this.#injector);
      const answer = await work(this.#process).then(
        (value) => ({ value }),
        (error: unknown) => ({ error }),
      );
      if (!this.#injector.hasCrashed) {
        if ("error" in answer) throw answer.error;
        return answer.value;
      }
      // Even an answer that seems to have come: nobody is there any more who could have heard it.
      await this.closeProcess();
    }
    throw new Error("more processes ended than were to end");
  }

  async closeProcess(): Promise<void> {
    if (this.#injector.crashedAt !== undefined) this.#crashedAt.push(this.#injector.crashedAt);
    await this.#process?.close();
    this.#process = undefined;
    this.#injector = new CrashInjector(this.#crashPoints[this.#crashedAt.length]);
  }
}
