import { Chronicle } from "./chronicle.ts";
import type { SimDatabase } from "./database.ts";
import { checkEnding, whatIsOpen } from "./ending.ts";
import { Faults, type FaultKind } from "./faults.ts";
import { People } from "./people.ts";
import { drawPlan, type Plan } from "./plan.ts";
import { Random } from "./random.ts";
import { compileChecks, CountedDeposits, type Violation } from "./safety.ts";
import { Scheduler } from "./scheduler.ts";
import { Site } from "./site.ts";
import { Trace } from "./trace.ts";
import { Weather } from "./weather.ts";

export type RunOptions = {
  seed: number;
  /** Names of faults, creates and other elements that are left out. */
  without?: ReadonlySet<string>;
  /** Keeps the lines of the trace. */
  isTraced?: boolean;
};

export type Run = {
  seed: number;
  plan: Plan;
  /** The first that was found; a run ends with it. */
  violation: Violation | undefined;
  digest: string;
  lines: readonly string[];
  struck: ReadonlyMap<FaultKind, number>;
  faultKinds: readonly FaultKind[];
  deposits: number;
  settlements: number;
  steps: number;
  virtualMs: number;
};

/** The rows are looked at after so many commits. */
const COMMITS_PER_CHECK = 120;
const LOOKS_AFTER_REORG = 3;
const HEAL_MS_MAX = 6 * 3_600_000;
const STEPS_MAX = 60_000;
/** While everything heals the pace slows down, so that waits of an hour cost no more than waits of a minute. */
const SLOWER_EVERY_MS = 60_000;
const SLOWNESS_MAX = 240;

let compiledChecks: string | undefined;

/** Runs one seed from its beginning to its end, or to the first thing that must not be. */
export async function runSeed(database: SimDatabase, options: RunOptions): Promise<Run> {
  database.reset();
  const simulation = new Simulation(database, options);
  await simulation.run();
  return simulation.report();
}

class Simulation {
  readonly #database: SimDatabase;
  readonly #plan: Plan;
  readonly #scheduler: Scheduler;
  readonly #faults: Faults;
  readonly #trace: Trace;
  readonly #site: Site;
  readonly #weather: Weather;
  readonly #people: People;
  readonly #counted: CountedDeposits;
  readonly #checks: string;
  readonly #chronicle: Chronicle;
  #violation: Violation | undefined;
  #commits = 0;
  #areDepositsWritten = false;
  readonly #begun = new Set<string>();
  #reorgs = 0;
  #looksDue = 0;

  constructor(database: SimDatabase, { seed, without = new Set(), isTraced = false }: RunOptions) {
    const random = new Random(`seed ${seed}`);
    this.#database = database;
    this.#checks = compiledChecks ??= compileChecks(database);
    this.#plan = drawPlan(seed, random.of("plan"), without);
    this.#scheduler = new Scheduler(random.of("scheduler"));
    this.#trace = new Trace(isTraced);
    this.#trace.nowMs = () => this.#scheduler.nowMs;
    this.#chronicle = new Chronicle(database, this.#trace);
    this.#faults = new Faults(random.of("faults"), {
      without,
      onStrike: (kind, what) => this.#trace.say("fault", `${kind} ${what}`),
    });
    this.#site = new Site({
      plan: this.#plan,
      random: random.of("site"),
      scheduler: this.#scheduler,
      database,
      faults: this.#faults,
      trace: this.#trace,
      onCommit: (process, tables) => this.#noteCommit(process.name, tables),
      violate: (rule, subject) => this.#violate({ rule, subject }),
    });
    this.#weather = new Weather(this.#site, random.of("weather"));
    this.#people = new People(this.#site, random.of("people"));
    // What is invented in a token that an intent is not paid in is held and never asked about again, so it would stay.
    this.#weather.inboxesOf = (chain) =>
      [...this.#people.intents.values()]
        .filter((one) => one.chain === chain && one.row.payout_token === chain.tokens[0]?.address)
        .map(({ row }) => row.inbox_address);
    this.#counted = new CountedDeposits(this.#site.chains);
  }

  async run(): Promise<void> {
    await this.#open();
    if (this.#violation === undefined) await this.#stepUntil(() => this.#scheduler.nowMs >= this.#plan.chaosMs);
    if (this.#violation === undefined) await this.#heal();
    if (this.#violation === undefined) this.#judge();
    for (const { process } of this.#site.running) process.end();
  }

  report(): Run {
    const count = (text: string) => Number(this.#database.rows(text)[0]?.["count"] ?? 0n);
    return {
      seed: this.#plan.seed,
      plan: this.#plan,
      violation: this.#violation,
      digest: this.#trace.digest(),
      lines: this.#trace.lines,
      struck: this.#faults.struck,
      faultKinds: [...this.#faults.rates.keys()],
      deposits: count("select count(*) as count from deposit"),
      settlements: count("select count(*) as count from settlement where status = 'landed'"),
      steps: this.#scheduler.steps,
      virtualMs: this.#scheduler.nowMs,
    };
  }

  /** Accounts are made and every chain has been looked at before anything may go wrong: what is older than that was never promised. */
  async #open(): Promise<void> {
    for (const { chain, nodes } of this.#site.chains) {
      for (let block = 0; block < 8; block += 1) chain.mine();
      for (const node of nodes) node.made = chain.made;
    }
    const setup = this.#site.open("setup");
    this.#faults.isAsleep = true;
    let isReady = false;
    const opening = this.#people.open(setup.world).then(() => (isReady = true));
    for (const [slot] of this.#site.slots.entries()) this.#site.start(slot);
    await this.#stepUntil(() => isReady && this.#begun.size === this.#site.chains.length);
    await opening;
    setup.process.end();
    for (const chain of this.#site.chains) chain.firstBlock = Number(chain.chain.head.number);
    this.#faults.isAsleep = false;
    for (const wallet of this.#plan.merchants.flatMap((_, merchant) =>
      [0, 1].map((index) => this.#people.walletOf(merchant, index)),
    ))
      this.#weather.wallets.add(wallet);
    this.#weather.begin();
    this.#people.begin();
  }

  async #heal(): Promise<void> {
    this.#trace.say("weather", "everything heals");
    this.#faults.heal();
    this.#weather.heal();
    const startMs = this.#scheduler.nowMs;
    let open: string[] = [];
    while (this.#scheduler.nowMs < startMs + HEAL_MS_MAX) {
      const endMs = this.#scheduler.nowMs + 5_000 * this.#weather.slowness;
      await this.#stepUntil(() => this.#scheduler.nowMs >= endMs);
      if (this.#violation !== undefined) return;
      const healingMs = this.#scheduler.nowMs - startMs;
      open = whatIsOpen(this.#ended, { isLong: this.#weather.blockedForEver.size > 0 && healingMs > 600_000 });
      if (open.length === 0) return;
      const slowness = Math.min(1 + (healingMs / SLOWER_EVERY_MS) ** 2 / 4, SLOWNESS_MAX);
      this.#weather.slowness = slowness;
      for (const { process } of this.#site.running) process.slowness = this.#plan.slowness * slowness;
    }
    this.#violate({ rule: "not everything was finished", subject: open.slice(0, 6).join("; ") });
  }

  #judge(): void {
    this.#look();
    for (const violation of checkEnding(this.#ended)) this.#violate(violation);
  }

  get #ended() {
    return { database: this.#database, chains: this.#site.chains, people: this.#people };
  }

  async #stepUntil(isReached: () => boolean): Promise<void> {
    while (this.#violation === undefined && !isReached()) {
      if (!(await this.#scheduler.step())) return this.#violate({ rule: "nothing happens any more", subject: "" });
      if (this.#scheduler.steps > STEPS_MAX)
        return this.#violate({ rule: "it never ends", subject: `${STEPS_MAX} steps` });
      if (this.#database.isTaken) continue;
      this.#chronicle.tell();
      if (this.#areDepositsWritten) this.#lookAtCounted();
      if (this.#commits >= COMMITS_PER_CHECK) this.#look();
    }
  }

  #look(): void {
    this.#commits = 0;
    const [found] = this.#database.rows(this.#checks) as Violation[];
    if (found) this.#violate(found);
    this.#lookAtCounted();
  }

  #lookAtCounted(): void {
    this.#areDepositsWritten = false;
    const [found] = this.#counted.check(this.#database);
    if (found) this.#violate(found);
  }

  #noteCommit(who: string, tables: ReadonlySet<string>): void {
    this.#commits += 1;
    this.#noteReorg(tables);
    if (tables.has("deposit")) this.#areDepositsWritten = true;
    if (tables.has("chain_cursor") && this.#faults.isAsleep) this.#noteBegun();
    this.#trace.sayQuietly(who, `writes ${[...tables].join(" ")}`);
    this.#chronicle.note(tables);
  }

  /** What a reorg left behind may be mended soon after, so the rows are looked at as soon as the first blocks that follow are recorded. */
  #noteReorg(tables: ReadonlySet<string>): void {
    if (this.#weather.reorgs > this.#reorgs) {
      this.#reorgs = this.#weather.reorgs;
      this.#looksDue = LOOKS_AFTER_REORG;
    }
    if (this.#looksDue === 0 || !tables.has("block")) return;
    this.#looksDue -= 1;
    this.#commits = COMMITS_PER_CHECK;
  }

  /** Which chains have been looked at for the first time. */
  #noteBegun(): void {
    for (const { chain } of this.#database.rows("select chain from chain_cursor")) this.#begun.add(String(chain));
  }

  #violate(violation: Violation): void {
    if (this.#violation !== undefined) return;
    this.#violation = violation;
    this.#trace.say("VIOLATION", `${violation.rule}: ${violation.subject}`);
  }
}
