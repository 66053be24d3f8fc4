import { StateLog } from "./stateLog.ts";
import type { SimDatabase } from "./simDatabase.ts";
import { checkFinalState, hasHiddenTransfers, listUnfinishedWork } from "./checkFinalState.ts";
import { FaultSchedule, type FaultKind } from "./faultSchedule.ts";
import { Actors } from "./actors.ts";
import { drawPlan, type SimPlan } from "./plan.ts";
import { calmFaults, playScene, shapeScene } from "./scenes/scenes.ts";
import { Stage } from "./scenes/stage.ts";
import { SeededRandom } from "./seededRandom.ts";
import { compileLedgerChecks, CountedDepositChecker, type CompiledChecks, type Violation } from "./invariants.ts";
import { findOutlived, purgeLater } from "./retention.ts";
import { Scheduler } from "./scheduler.ts";
import { SimWorld } from "./simWorld.ts";
import { Trace } from "./trace.ts";
import { FaultInjector } from "./faultInjector.ts";

export type RunOptions = {
  seed: number;
  /** Names of faults, creates and other elements to leave out. */
  without?: ReadonlySet<string>;
  /** Keeps the lines of the trace. */
  isTraced?: boolean;
  /** Gives the merchants webhook endpoints, which have faults of their own. */
  hasEndpoints?: boolean;
};

export type Run = {
  seed: number;
  plan: SimPlan;
  hasEndpoints: boolean;
  /** The first violation; it ends the run. */
  violation: Violation | undefined;
  digest: string;
  lines: readonly string[];
  injected: ReadonlyMap<FaultKind, number>;
  faultKinds: readonly FaultKind[];
  deposits: number;
  settlements: number;
  steps: number;
  virtualMs: number;
};

/** The number of commits between two checks of the rows. */
const COMMITS_PER_CHECK = 120;
const CHECKS_AFTER_REORG = 3;
const HEAL_MS_MAX = 6 * 3_600_000;
/** A hidden transfer is found within an hour of virtual time, which takes two chains and two processes 80,000 steps. */
const STEPS_MAX = 150_000;
/** Blocks slow down while the run heals, so that a wait of an hour costs no more than one of a minute. */
const SLOWDOWN_INTERVAL_MS = 60_000;
const SLOWDOWN_MAX = 240;
/** A hidden transfer is found within the hour by a loop that must run often enough. */
const SLOWDOWN_HIDDEN_MAX = 6;
/** A crossing needs one step after the other on both chains. */
const SLOWDOWN_BRIDGED_MAX = 40;

export function drawSeedPlan(seed: number, without: ReadonlySet<string> = new Set()): SimPlan {
  const random = new SeededRandom(`seed ${seed}`);
  return shapeScene(drawPlan(seed, random.derive("plan"), without), random.derive("scene"), without);
}

let compiledChecks: CompiledChecks | undefined;

/** Runs one seed to its end, or to its first violation. */
export async function runSeed(database: SimDatabase, options: RunOptions): Promise<Run> {
  database.reset();
  const simulation = new Simulation(database, options);
  await simulation.run();
  return simulation.report();
}

class Simulation {
  readonly #database: SimDatabase;
  readonly #plan: SimPlan;
  readonly #scheduler: Scheduler;
  readonly #faultSchedule: FaultSchedule;
  readonly #trace: Trace;
  readonly #simWorld: SimWorld;
  readonly #faultInjector: FaultInjector;
  readonly #actors: Actors;
  readonly #stage: Stage;
  readonly #depositChecker: CountedDepositChecker;
  readonly #checks: CompiledChecks;
  readonly #stateLog: StateLog;
  #violation: Violation | undefined;
  #commits = 0;
  #areDepositsWritten = false;
  readonly #watchedChains = new Set<string>();
  #reorgs = 0;
  #checksDue = 0;

  constructor(
    database: SimDatabase,
    { seed, without = new Set(), isTraced = false, hasEndpoints = false }: RunOptions,
  ) {
    const random = new SeededRandom(`seed ${seed}`);
    this.#database = database;
    this.#checks = compiledChecks ??= compileLedgerChecks(database);
    this.#plan = drawSeedPlan(seed, without);
    this.#scheduler = new Scheduler(random.derive("scheduler"));
    this.#trace = new Trace(isTraced);
    this.#trace.nowMs = () => this.#scheduler.nowMs;
    this.#stateLog = new StateLog(database, this.#trace);
    this.#faultSchedule = new FaultSchedule(random.derive("faults"), {
      without: new Set([...without, ...calmFaults(this.#plan)]),
      onStrike: (kind, detail) => this.#trace.append("fault", `${kind} ${detail}`),
    });
    this.#simWorld = new SimWorld({
      plan: this.#plan,
      random: random.derive("site"),
      scheduler: this.#scheduler,
      database,
      faults: this.#faultSchedule,
      trace: this.#trace,
      hasEndpoints,
      onCommit: (process, tables) => this.#noteCommit(process.name, tables),
      violate: (rule, subject) => this.#violate({ rule, subject }),
    });
    this.#faultInjector = new FaultInjector(this.#simWorld, random.derive("weather"));
    this.#actors = new Actors(this.#simWorld, random.derive("people"));
    const [simWorld, actors, injector] = [this.#simWorld, this.#actors, this.#faultInjector];
    this.#stage = new Stage({ simWorld, actors, injector, random: random.derive("stage") });
    // An intent in another token holds a forged payment and never checks it again, so the payment would stay.
    this.#faultInjector.listInboxes = (chain) =>
      [...this.#actors.intents.values()]
        .filter((one) => one.chain === chain && one.row.payout_token === chain.tokens[0]?.address)
        .map(({ row }) => row.inbox_address);
    this.#depositChecker = new CountedDepositChecker(this.#simWorld.chains);
  }

  async run(): Promise<void> {
    await this.#setUp();
    if (this.#violation === undefined) await this.#stepUntil(() => this.#scheduler.nowMs >= this.#plan.chaosMs);
    if (this.#violation === undefined) await this.#heal();
    if (this.#violation === undefined) await this.#purge();
    if (this.#violation === undefined) this.#checkFinalState();
    for (const { process } of this.#simWorld.running) process.crash();
  }

  report(): Run {
    const count = (text: string) => Number(this.#database.rows(text)[0]?.["count"] ?? 0n);
    return {
      seed: this.#plan.seed,
      plan: this.#plan,
      hasEndpoints: this.#simWorld.endpoints !== undefined,
      violation: this.#violation,
      digest: this.#trace.digest(),
      lines: this.#trace.lines,
      injected: this.#faultSchedule.injected,
      faultKinds: [...this.#faultSchedule.rates.keys()],
      deposits: count("select count(*) as count from deposit"),
      settlements: count("select count(*) as count from settlement where status = 'landed'"),
      steps: this.#scheduler.steps,
      virtualMs: this.#scheduler.nowMs,
    };
  }

  /** Creates the accounts and polls every chain before any fault. The service promises nothing about older blocks. */
  async #setUp(): Promise<void> {
    for (const { chain, nodes } of this.#simWorld.chains) {
      for (let block = 0; block < 8; block += 1) chain.mine();
      for (const node of nodes) node.knownBlockCount = chain.blockCount;
    }
    const setup = this.#simWorld.createProcess("setup");
    this.#faultSchedule.isSuspended = true;
    let isReady = false;
    const opening = this.#actors.createAccounts(setup.world).then(() => (isReady = true));
    for (const [slot] of this.#simWorld.slots.entries()) this.#simWorld.startService(slot);
    await this.#stepUntil(() => isReady && this.#watchedChains.size === this.#simWorld.chains.length);
    await opening;
    setup.process.crash();
    for (const chain of this.#simWorld.chains) chain.firstBlock = Number(chain.chain.head.number);
    this.#faultSchedule.isSuspended = false;
    for (const wallet of this.#plan.merchants.flatMap((_, merchant) =>
      [0, 1].map((index) => this.#actors.walletOf(merchant, index)),
    ))
      this.#faultInjector.wallets.add(wallet);
    this.#faultInjector.start();
    this.#actors.start();
    this.#actors.perform(() => playScene(this.#plan, this.#stage));
  }

  async #heal(): Promise<void> {
    this.#trace.append("healing", "everything heals");
    this.#faultSchedule.heal();
    this.#faultInjector.heal();
    if (this.#simWorld.endpoints !== undefined) this.#simWorld.endpoints.isHealed = true;
    const startMs = this.#scheduler.nowMs;
    let open: string[] = [];
    const silentUntilMs = Math.max(startMs, this.#silentUntilMs);
    while (this.#scheduler.nowMs < silentUntilMs + HEAL_MS_MAX) {
      const endMs = this.#scheduler.nowMs + 5_000 * this.#faultInjector.slowdown;
      await this.#stepUntil(() => this.#scheduler.nowMs >= endMs);
      if (this.#violation !== undefined) return;
      // Once the bridge's service answers again, blocks are as fast as at first.
      const healingMs = this.#scheduler.nowMs - (this.#scheduler.nowMs > silentUntilMs ? silentUntilMs : startMs);
      open = this.#listOpenWork(this.#faultInjector.permanentlyBlocked.size > 0 && healingMs > 600_000);
      if (open.length === 0) return;
      const slownessMax = this.#hasHiddenTransfers
        ? SLOWDOWN_HIDDEN_MAX
        : this.#plan.bridge
          ? SLOWDOWN_BRIDGED_MAX
          : SLOWDOWN_MAX;
      const slowness = Math.min(1 + (healingMs / SLOWDOWN_INTERVAL_MS) ** 2 / 4, slownessMax);
      this.#faultInjector.slowdown = slowness;
      for (const { process } of this.#simWorld.running) process.slowdown = this.#plan.slowdown * slowness;
    }
    this.#violate({ rule: "unfinished work remains", subject: open.slice(0, 6).join("; ") });
  }

  async #purge(): Promise<void> {
    const { process, world } = this.#simWorld.createProcess("purge");
    let isPurged = false;
    const purging = purgeLater(world, new AbortController().signal).then(() => (isPurged = true));
    await this.#stepUntil(() => isPurged);
    if (isPurged) await purging;
    process.crash();
    for (const violation of findOutlived(this.#database)) this.#violate(violation);
  }

  #checkFinalState(): void {
    this.#runChecks(true);
    for (const violation of checkFinalState(this.#finalState)) this.#violate(violation);
    for (const violation of this.#simWorld.endpoints?.check(this.#database) ?? []) this.#violate(violation);
  }

  #listOpenWork(ignoresHeld = false): string[] {
    const webhooks = this.#simWorld.endpoints?.listUnfinished(this.#database) ?? [];
    return [...listUnfinishedWork(this.#finalState, { ignoresHeld }), ...webhooks];
  }

  get #finalState() {
    return { database: this.#database, chains: this.#simWorld.chains, actors: this.#actors };
  }

  async #stepUntil(isReached: () => boolean): Promise<void> {
    while (this.#violation === undefined && !isReached()) {
      if (!(await this.#scheduler.step())) return this.#violate({ rule: "no event is left", subject: "" });
      if (this.#scheduler.steps > STEPS_MAX)
        return this.#violate({
          rule: "the run exceeds its steps",
          subject: this.#listOpenWork().slice(0, 6).join("; "),
        });
      if (this.#database.isLocked) continue;
      this.#stateLog.logChanges();
      if (this.#areDepositsWritten) this.#checkCountedDeposits();
      if (this.#commits >= COMMITS_PER_CHECK) this.#runChecks();
    }
  }

  /** When the providers and the bridge's service answer again at the latest. */
  get #silentUntilMs(): number {
    const { chains, attestation } = this.#simWorld;
    const nodes = chains.flatMap((chain) => chain.nodes.map(({ awayUntilMs }) => awayUntilMs));
    return Math.max(attestation?.silentUntilMs ?? 0, ...nodes);
  }

  get #hasHiddenTransfers(): boolean {
    return hasHiddenTransfers(this.#simWorld.chains);
  }

  /**
   * A sweep takes a hidden transfer along. After an outage, a chain that is read by accounts lists its sweeps at once,
   * and searches what they took in a loop of its own. The rule holds again when the transfer is found.
   */
  get #findsTransfersLate(): boolean {
    return this.#hasHiddenTransfers || this.#simWorld.chains.some(({ plan }) => plan.isReadByAccounts);
  }

  #runChecks(isFinal = false): void {
    this.#commits = 0;
    const found = this.#database.rows(this.#checks.sql, this.#checks.parameters) as Violation[];
    const isExpected = ({ rule }: Violation) =>
      (rule === "sweep-empties-inbox" && !isFinal && this.#findsTransfersLate) ||
      // A refused deposit is quarantined until it is tried again.
      (rule === "deposit-matches-movement" && !isFinal && this.#plan.scene === "refusedRow");
    const violation = found.find((each) => !isExpected(each));
    if (violation) this.#violate(violation);
    this.#checkCountedDeposits();
  }

  #checkCountedDeposits(): void {
    this.#areDepositsWritten = false;
    const [found] = this.#depositChecker.check(this.#database);
    if (found) this.#violate(found);
  }

  #noteCommit(processName: string, tables: ReadonlySet<string>): void {
    this.#commits += 1;
    this.#noteReorg(tables);
    if (tables.has("deposit")) this.#areDepositsWritten = true;
    if (tables.has("chain_cursor") && this.#faultSchedule.isSuspended) this.#noteWatchedChains();
    this.#trace.appendToDigest(processName, `writes ${[...tables].join(" ")}`);
    this.#stateLog.noteCommit(tables);
  }

  /**
   * Checks the rows as soon as the blocks after a reorg are recorded, because later commits may repair what the reorg
   * broke.
   */
  #noteReorg(tables: ReadonlySet<string>): void {
    if (this.#faultInjector.reorgCount > this.#reorgs) {
      this.#reorgs = this.#faultInjector.reorgCount;
      this.#checksDue = CHECKS_AFTER_REORG;
    }
    if (this.#checksDue === 0 || !tables.has("block")) return;
    this.#checksDue -= 1;
    this.#commits = COMMITS_PER_CHECK;
  }

  /** Notes the chains that the service has polled. */
  #noteWatchedChains(): void {
    for (const { chain } of this.#database.rows("select chain from chain_cursor"))
      this.#watchedChains.add(String(chain));
  }

  #violate(violation: Violation): void {
    if (this.#violation !== undefined) return;
    this.#violation = violation;
    this.#trace.append("VIOLATION", `${violation.rule}: ${violation.subject}`);
  }
}
