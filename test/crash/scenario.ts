import type { CrashDatabase } from "./crashDatabase.ts";
import { CrashInjector, PauseInjector, type CrashPoint } from "./crashInjector.ts";
import type { Outcome } from "./outcome.ts";
import { startProcess, type CrashableProcess, type CrashEnvironment } from "./crashableProcess.ts";
import { openCrashContext, IntentScenario, type CrashContext } from "./crashContext.ts";

// One run of the whole road: intents are created, paid, seen, counted and swept with a fee, and their settlements
// become final. A process may crash anywhere, and another one finishes its work. Or it pauses, and resumes after
// another one has finished.

/** From payment to the sweep's final transaction takes about six ticks; a delayed retry takes a few more. */
const TICKS_MAX = 60;

export type ScenarioResult = {
  outcome: Outcome;
  /** The steps of the crashes or the pause; undefined when the run did not reach one. */
  interruptedAt: string | undefined;
};

export type Scenario = {
  /** Crashes one process at each point. The last process finishes the run. */
  runWithCrashes(...ends: CrashPoint[]): Promise<ScenarioResult>;
  /** Pauses a process before its nth step outside of transactions, and resumes it after another one has finished. */
  runWithPause(nth: number): Promise<ScenarioResult>;
  /** Starts a process with one crash point. */
  startProcess(end: CrashPoint): Promise<CrashableProcess>;
  /** The failed ledger checks. */
  findings(): Promise<string[]>;
  close(): Promise<void>;
};

export async function openScenario(database: CrashDatabase): Promise<Scenario> {
  const context = await openCrashContext(database);
  let runCount = 0;
  return {
    runWithCrashes: (...ends) => runWithCrashes(context, (runCount += 1), ends),
    runWithPause: (nth) => runWithPause(context, (runCount += 1), nth),
    startProcess: (end) => startProcess(context.environment, new CrashInjector(end)),
    findings: () => context.findings(),
    close: () => context.close(),
  };
}

async function runWithCrashes(
  context: CrashContext,
  number: number,
  ends: readonly CrashPoint[],
): Promise<ScenarioResult> {
  const sequence = new ProcessSequence(context.environment, ends);
  const intents = await IntentScenario.start(context, (work) => sequence.run(work), number);
  for (let ticks = 0; !(await intents.isFinished()); ticks += 1) {
    if (ticks === TICKS_MAX) throw new Error(`not settled after ${ticks} ticks: crashed ${sequence.crashedAt}`);
    await sequence.run((process) => process.tick());
    intents.advanceTime();
  }
  await sequence.run((process) => process.tick());
  await sequence.closeProcess();
  return { outcome: await intents.outcome(), interruptedAt: sequence.crashedAt };
}

async function runWithPause(context: CrashContext, number: number, nth: number): Promise<ScenarioResult> {
  const pause = new PauseInjector(nth);
  const pausedProcess = await startProcess(context.environment, pause);
  const other = await startProcess(context.environment, new CrashInjector());
  const intents = await IntentScenario.start(context, (work) => work(other), number);
  let ticks = 0;
  const drive = async (process: CrashableProcess, isDone: () => boolean) => {
    for (; !isDone() && !(await intents.isFinished()); ticks += 1) {
      if (ticks === TICKS_MAX) throw new Error(`not settled after ${ticks} ticks: paused ${pause.pausedAt}`);
      await process.tick();
      intents.advanceTime();
    }
  };
  const pausedRun = drive(pausedProcess, () => pause.pausedAt !== undefined);
  await Promise.race([pausedRun, pause.paused]);
  await drive(other, () => false);
  pause.resume();
  await pausedRun;
  for (const process of [pausedProcess, other]) await process.tick();
  for (const process of [pausedProcess, other]) await process.close();
  return { outcome: await intents.outcome(), interruptedAt: pause.pausedAt };
}

/** Processes one after another. Each starts after the crash of the one before. */
class ProcessSequence {
  readonly #environment: CrashEnvironment;
  readonly #crashPoints: readonly CrashPoint[];
  readonly #crashedAt: string[] = [];
  #injector: CrashInjector;
  #process: CrashableProcess | undefined;

  constructor(environment: CrashEnvironment, ends: readonly CrashPoint[]) {
    this.#environment = environment;
    this.#crashPoints = ends;
    this.#injector = new CrashInjector(ends[0]);
  }

  get crashedAt(): string | undefined {
    return this.#crashedAt.length === 0 ? undefined : this.#crashedAt.join(", then ");
  }

  /** Runs work, and repeats it in a new process when the first one crashed. */
  async run<T>(work: (process: CrashableProcess) => Promise<T>): Promise<T> {
    for (let attempts = 0; attempts <= this.#crashPoints.length; attempts += 1) {
      this.#process ??= await startProcess(this.#environment, this.#injector);
      const answer = await work(this.#process).then(
        (value) => ({ value }),
        (error: unknown) => ({ error }),
      );
      if (!this.#injector.hasCrashed) {
        if ("error" in answer) throw answer.error;
        return answer.value;
      }
      // A crash also discards an answer that arrived, because the caller crashed as well.
      await this.closeProcess();
    }
    throw new Error("a process crashed without a crash point");
  }

  async closeProcess(): Promise<void> {
    if (this.#injector.crashedAt !== undefined) this.#crashedAt.push(this.#injector.crashedAt);
    await this.#process?.close();
    this.#process = undefined;
    this.#injector = new CrashInjector(this.#crashPoints[this.#crashedAt.length]);
  }
}
