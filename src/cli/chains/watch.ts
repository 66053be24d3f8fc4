import { systemTimer } from "../../kernel/clock.ts";
import { BEHIND } from "../../watch/behind.ts";
import { computePace, computePercent, type ProgressSample, type Pace } from "../../watch/catchUp/pace.ts";
import type { Command, CommandInput } from "../command.ts";
import { CONFIG_OPTION, openOperatorClient, type OperatorClient } from "../operatorClient.ts";
import type { ProviderStatus, WatchStatus } from "../../operator/getWatchStatus.ts";
import { waitForShutdown } from "../../operator/process/shutdown.ts";
import { formatFields, toJson, type Style, type Terminal } from "../../operator/process/terminal.ts";

export const watchStatus: Command = {
  name: "watch status",
  summary: "show the scan progress of each chain and its providers",
  help: "Show the scan progress of each chain, the time it still needs, and the state of its providers",
  positionals: [],
  options: {
    follow: { summary: "refresh every 2 seconds until interrupted, with a progress bar for each chain" },
    ...CONFIG_OPTION,
  },
  examples: [
    "tributary watch status",
    "tributary watch status --follow",
    "tributary watch status --config my.json --json",
  ],
  run: runStatus,
};

const INTERVAL_MS = 2_000;
/** The pace is measured over this period. */
const PACE_WINDOW_MS = 30_000;
const BAR_CELLS_MIN = 5;
const BAR_CELLS_MAX = 20;

async function runStatus(input: CommandInput): Promise<number> {
  const operator = await openOperatorClient(input);
  try {
    const history = new SyncHistory();
    await history.read(operator);
    if (input.flags.has("follow")) await follow(input, operator, history);
    else await showOnce(input, operator, history);
  } finally {
    await operator.close();
  }
  return 0;
}

/** Shows the state once. Reads twice when a chain is behind, because the pace needs two samples. */
async function showOnce(
  { asJson, terminal }: CommandInput,
  operator: OperatorClient,
  history: SyncHistory,
): Promise<void> {
  if (history.chains.some(isBehind)) {
    await systemTimer.sleep(INTERVAL_MS);
    await history.read(operator);
  }
  if (asJson) terminal.out(toJson(history.chains.map((chain) => withPace(chain, history))));
  else
    for (const line of history.chains.flatMap((chain) => formatDetails(chain, history, terminal))) terminal.out(line);
}

async function follow(
  { asJson, terminal }: CommandInput,
  operator: OperatorClient,
  history: SyncHistory,
): Promise<void> {
  const ending = new AbortController();
  void waitForShutdown({ signal: terminal.outputClosed }).then(() => ending.abort());
  while (!ending.signal.aborted) {
    if (asJson) terminal.out(toJson(history.chains.map((chain) => withPace(chain, history))));
    else terminal.redraw(history.chains.map((chain) => formatLine(chain, history, terminal)));
    await systemTimer.sleep(INTERVAL_MS, ending.signal);
    if (!ending.signal.aborted) await history.read(operator);
  }
}

/** The latest state of all chains, and recent samples of their progress. */
class SyncHistory {
  chains: readonly WatchStatus[] = [];
  readonly #samples = new Map<string, ProgressSample[]>();
  readonly #startBlocks = new Map<string, bigint>();

  async read(operator: OperatorClient): Promise<void> {
    this.chains = await operator.call("watch status", {});
    const atMs = systemTimer.monotonicMs();
    for (const { chain, recordedBlock, catchUpStartBlock, headBlock } of this.chains) {
      if (recordedBlock === null || headBlock === null) continue;
      const sample = { atMs, recorded: BigInt(recordedBlock), head: BigInt(headBlock) };
      const recent = (this.#samples.get(chain) ?? []).filter((each) => atMs - each.atMs <= PACE_WINDOW_MS);
      this.#samples.set(chain, [...recent, sample]);
      // Only the process that catches up knows the start. Otherwise the first sample is the start.
      const startBlock =
        catchUpStartBlock === null ? (this.#startBlocks.get(chain) ?? sample.recorded) : BigInt(catchUpStartBlock);
      this.#startBlocks.set(chain, startBlock);
    }
  }

  paceOf({ chain }: WatchStatus): Pace | undefined {
    const samples = this.#samples.get(chain) ?? [];
    const [first, last] = [samples.at(0), samples.at(-1)];
    return first && last && computePace(first, last);
  }

  percentOf({ chain }: WatchStatus): number {
    const [startBlock, last] = [this.#startBlocks.get(chain), this.#samples.get(chain)?.at(-1)];
    return startBlock === undefined || last === undefined ? 0 : computePercent(startBlock, last);
  }
}

function isBehind({ behindMs }: WatchStatus): boolean {
  return behindMs !== null && behindMs > BEHIND.scan.ms;
}

function withPace(
  chain: WatchStatus,
  history: SyncHistory,
): WatchStatus & { blocksPerS: number | null; leftMs: number | null } {
  const pace = isBehind(chain) ? history.paceOf(chain) : undefined;
  const blocksPerS = pace === undefined ? null : Math.round(pace.blocksPerS);
  return { ...chain, blocksPerS, leftMs: pace?.remainingMs === undefined ? null : Math.round(pace.remainingMs) };
}

/** The state of a chain as a short label, coloured by urgency. */
function describeState(chain: WatchStatus): { label: string; style: Style } {
  if (chain.recordedBlock === null) return { label: "never scanned", style: "red" };
  if (chain.headBlock === null) return { label: "no provider answers", style: "red" };
  if (!chain.isWatched) return { label: "not watched", style: "red" };
  if (isBehind(chain)) return { label: "catching up", style: "yellow" };
  return { label: "at the head", style: "green" };
}

function formatDetails(chain: WatchStatus, history: SyncHistory, terminal: Terminal): string[] {
  const { label, style } = describeState(chain);
  const { recordedBlock, headBlock, behindBlocks, scannedAt, reportedAt } = chain;
  const age = scannedAt === null ? "" : `${formatDuration(Date.parse(reportedAt) - Date.parse(scannedAt))} ago`;
  const entries: [string, string][] = [
    ["recorded", formatBlock(recordedBlock)],
    ["head", formatBlock(headBlock)],
    ["behind", formatLag(chain)],
    ...(isBehind(chain) ? [["pace", formatPace(history.paceOf(chain))] satisfies [string, string]] : []),
    ...(isBehind(chain) && chain.catchUpStartBlock !== null
      ? [
          ["done", `${history.percentOf(chain)} % since block ${formatBlock(chain.catchUpStartBlock)}`] satisfies [
            string,
            string,
          ],
        ]
      : []),
    ["safe, final", `${formatBlock(chain.safeBlock)}, ${formatBlock(chain.finalBlock)}`],
    ["read again to", formatBlock(chain.rereadBlock)],
    ["last scan", age],
    ...chain.providers.map((provider): [string, string] => ["provider", formatProvider(provider, terminal)]),
  ];
  const shown = behindBlocks === null ? entries.filter(([name]) => name !== "behind") : entries;
  const title = `${terminal.paint("bold", chain.chainName)} (${chain.chain}): ${terminal.paint(style, label)}`;
  return [title, ...formatFields(terminal, shown).map((line) => `  ${line}`), ""];
}

function formatProvider({ name, headBlock, error, agreement }: ProviderStatus, terminal: Terminal): string {
  if (error !== null) return `${name} ${terminal.paint("red", error)}`;
  const warning = { agrees: "", behind: "far behind", differs: "differs from the recorded chain" }[
    agreement ?? "agrees"
  ];
  const position = `${name} at ${formatBlock(headBlock)}`;
  return warning === "" ? position : `${position}, ${terminal.paint("yellow", warning)}`;
}

/**
 * One line that fits the terminal: the chain's name, a progress bar while it catches up, then details as far as they
 * fit.
 */
function formatLine(chain: WatchStatus, history: SyncHistory, terminal: Terminal): string {
  const width = Math.min(Math.max(...history.chains.map(({ chainName }) => chainName.length)), 16);
  const name = chain.chainName.slice(0, width).padEnd(width);
  const { label, style } = describeState(chain);
  const columnsLeft = Math.max(terminal.columns() - 1 - width - 2, 10);
  const failingCount = chain.providers.filter(({ error }) => error !== null).length;
  const disagreeingCount = chain.providers.filter(
    ({ agreement }) => agreement === "behind" || agreement === "differs",
  ).length;
  const count = chain.providers.length;
  const providerNote = `${failingCount === 0 ? "" : `, ${failingCount} of ${count} providers fail`}${disagreeingCount === 0 ? "" : `, ${disagreeingCount} of ${count} disagree`}`;
  if (!isBehind(chain) || style === "red") {
    const suffix =
      style === "red"
        ? providerNote
        : `  ${formatBlock(chain.recordedBlock)} (${formatLag(chain)} behind)${providerNote}`;
    return `${name}  ${terminal.paint(style, label.slice(0, columnsLeft))}${suffix.slice(0, Math.max(columnsLeft - label.length, 0))}`;
  }
  const percent = history.percentOf(chain);
  const rest = ` ${String(percent).padStart(3)} %  ${formatPace(history.paceOf(chain))}`;
  const cells = Math.min(BAR_CELLS_MAX, Math.max(BAR_CELLS_MIN, columnsLeft - rest.length));
  const full = Math.floor((percent * cells) / 100);
  const bar = terminal.paint("cyan", "█".repeat(full)) + terminal.paint("dim", "░".repeat(cells - full));
  return `${name}  ${bar}${`${rest}${providerNote}`.slice(0, Math.max(columnsLeft - cells, 0))}`;
}

function formatLag({ behindBlocks, behindMs }: WatchStatus): string {
  const blocks = behindBlocks === "1" ? "1 block" : `${formatBlock(behindBlocks)} blocks`;
  return behindMs === null || behindMs === 0 ? blocks : `${blocks}, ${formatDuration(behindMs)}`;
}

function formatPace(pace: Pace | undefined): string {
  if (pace === undefined) return "…";
  const speed = `${Math.round(pace.blocksPerS).toLocaleString("en")} blocks/s`;
  return pace.remainingMs === undefined
    ? `${speed}, falling behind`
    : `${speed}, ${formatDuration(pace.remainingMs)} left`;
}

function formatBlock(number: string | null): string {
  return number === null ? "none" : BigInt(number).toLocaleString("en");
}

const TIME_UNITS: readonly (readonly [name: string, ms: number])[] = [
  ["d", 86_400_000],
  ["h", 3_600_000],
  ["min", 60_000],
  ["s", 1_000],
];

/** Formats with the two largest units, such as "2 h 3 min", "4 min", "0 s". */
function formatDuration(ms: number): string {
  const seconds = Math.max(0, Math.round(ms / 1_000)) * 1_000;
  const at = TIME_UNITS.findIndex(([, unit]) => seconds >= unit);
  if (at < 0) return "0 s";
  let left = seconds;
  return TIME_UNITS.slice(at, at + 2)
    .map(([name, unit]) => {
      const count = Math.floor(left / unit);
      left -= count * unit;
      return count === 0 ? "" : `${count} ${name}`;
    })
    .filter((part) => part !== "")
    .join(" ");
}
