import process from "node:process";
import type { OpsAlarm, OpsChain, OpsState } from "@tributary/dashboard/ops/opsState";
import type { ActiveAlarm } from "../../alarm/alarm.ts";
import { describeAlarm, readAlarms } from "../../alarm/updateAlarms.ts";
import { countRows } from "../../health/openRows.ts";
import { ALARMS } from "../../kernel/alarm/alarmTable.ts";
import { productVersion } from "../../config/operate/productVersion.ts";
import { classifyError, isDatabaseAway } from "../../kernel/errors/classifyError.ts";
import type { World } from "../../world.ts";
import { readFromReplica } from "../reads/readFromReplica.ts";
import { readChains } from "./readChains.ts";
import { readDatabase, readProcesses } from "./readMachines.ts";
import { readBooks, readCrossings, readEndpoints, readHeld, readTransactions } from "./readMoney.ts";
import { buildRoad, readOpenRoad, readRates, type Rates } from "./readRoad.ts";

/** Readers that come sooner get the same state, so that any number of them costs one reading. */
const SHARED_MS = 2_000;
/** Rates change slowly, and read the most rows. */
const RATES_MS = 60_000;

type Known = { state: OpsState; atMs: number; asOf: Date | undefined };

/**
 * Reads the state of the installation for all who look at it. A reading that fails keeps what the last one found, with
 * its age: the page shows no old number as the present one.
 */
export class OpsReader {
  readonly #world: World;
  #known: Known | undefined;
  #triedAtMs: number | undefined;
  #reading: Promise<void> | undefined;
  #rates: { value: Rates; atMs: number } | undefined;
  #failure: string | null = null;
  #alarms: readonly OpsAlarm[] = [];

  constructor(world: World) {
    this.#world = world;
  }

  /** Never rejects but for a broken invariant. */
  async read(): Promise<OpsState> {
    const nowMs = this.#nowMs();
    if (this.#triedAtMs === undefined || nowMs - this.#triedAtMs >= SHARED_MS) {
      this.#reading ??= this.#look().finally(() => {
        this.#reading = undefined;
        this.#triedAtMs = this.#nowMs();
      });
      await this.#reading;
    }
    const known = this.#known;
    const state = known?.state ?? emptyState(this.#world);
    const ageMs = known === undefined ? 0 : this.#nowMs() - known.atMs;
    // Alarms are known without the database.
    return { ...state, alarms: this.#alarms, failure: this.#failure, ageMs };
  }

  /** The time until which the last state shows every commit, where a copy of the database gave it. */
  get asOf(): Date | undefined {
    return this.#known?.asOf;
  }

  /** What needs no reading, for the pages beside the overview. */
  installation(): OpsState["installation"] {
    return installationOf(this.#world);
  }

  async #look(): Promise<void> {
    const atMs = this.#nowMs();
    try {
      const alarms = await readAlarms(this.#world);
      this.#alarms = alarms.map((alarm) => toAlarm(alarm));
      const { result: state, asOf } = await readFromReplica(this.#world, (world) => this.#readState(world, alarms));
      this.#known = { state: asOf === undefined ? state : { ...state, readAt: asOf.toISOString() }, atMs, asOf };
      this.#failure = null;
    } catch (error) {
      if (classifyError(error) === "fatal") throw error;
      this.#world.log.warn({ err: error }, "reading the state of the installation failed");
      // Messages of a driver may name users and addresses: the log has them.
      this.#failure = isDatabaseAway(error)
        ? "the database does not answer"
        : "a part could not be read; the log says why";
    }
  }

  /** Chains, processes and the database are of the primary, whatever `world` reads: their age is what they show. */
  async #readState(world: World, alarms: readonly ActiveAlarm[]): Promise<OpsState> {
    const now = world.clock.now();
    const [rates, open, transactions, crossings, held, books, endpoints, processes, database] = await Promise.all([
      this.#readRates(world),
      readOpenRoad(world),
      readTransactions(world),
      readCrossings(world),
      readHeld(world),
      readBooks(world),
      readEndpoints(world),
      readProcesses(this.#world),
      readDatabase(this.#world),
    ]);
    const chains: OpsChain[] = await readChains(this.#world, rates.transfers);
    const heldCount = world.config.chains.reduce(
      (sum, { caip2 }) => sum + countRows(open.rows, { chain: caip2, kind: "deposit", status: "held" }),
      0,
    );
    return {
      ...emptyState(world),
      readAt: now.toISOString(),
      ratesMs: rates.ratesMs,
      road: buildRoad({ open, rates, chains, alarms, now }),
      chains,
      transactions,
      crossings,
      held: { count: Math.max(heldCount, held.length), shown: held },
      books,
      processes,
      database,
      endpoints,
    };
  }

  async #readRates(world: World): Promise<Rates> {
    const atMs = this.#nowMs();
    if (this.#rates === undefined || atMs - this.#rates.atMs >= RATES_MS)
      this.#rates = { value: await readRates(world), atMs };
    return this.#rates.value;
  }

  #nowMs(): number {
    return this.#world.clock.monotonicMs();
  }
}

function toAlarm(alarm: ActiveAlarm): OpsAlarm {
  const { chainName } = alarm.facts;
  return { ...describeAlarm(alarm), chainName: typeof chainName === "string" ? chainName : null };
}

function installationOf({ config }: World): OpsState["installation"] {
  return {
    host: new URL(config.baseUrl).host,
    environment: config.environment,
    version: productVersion(),
    nodeVersion: process.versions.node,
  };
}

/** What is shown before the first reading. */
function emptyState(world: World): OpsState {
  return {
    installation: installationOf(world),
    readAt: null,
    ageMs: 0,
    failure: null,
    alarmKinds: Object.keys(ALARMS).length,
    alarms: [],
    ratesMs: 0,
    road: [],
    chains: [],
    transactions: [],
    crossings: [],
    held: { count: 0, shown: [] },
    books: null,
    processes: [],
    database: null,
    endpoints: [],
  };
}
