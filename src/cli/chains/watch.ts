import { systemClock } from "../../kernel/clock.ts";
import { computePace, computePercent, type ProgressSample, type Pace } from "../../watch/catchUp/pace.ts";
import type { Command, CommandInput } from "../command.ts";
import { CONFIG_OPTION, openOperatorClient, type OperatorClient } from "../operatorClient.ts";
import type { ProviderStatus, WatchStatus } from "../../operator/getWatchStatus.ts";
import { waitForShutdown } from "../../operator/process/shutdown.ts";
import { formatFields, toJson, type Style, type Terminal } from "../../operator/process/terminal.ts";

export const watchStatus: Command = {
  name: "watch status",
  summary: "Show how far each chain is read and how it is with its providers; behind its head, how long the rest takes",
  positionals: [],
  options: {
    follow: { summary: "keep showing it, with a bar for each chain, until it is interrupted" },
    ...CONFIG_OPTION,
  },
  examples: [
    "tributary watch status",
    "tributary watch status --follow",
    "tributary watch status --config my.json --json",
  ],
  run: runStatus,
};

/** Between two readings that follow. */
const INTERVAL_MS = 2_000;
/** The pace is taken from readings of this last time. */
const PACE_WINDOW_MS = 30_000;
/** So far behind a chain is being caught up with; nearer, it is on its way from one block to the next. */
const CATCH_UP_BLOCKS = 64n;
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

/** A pace takes two readings: the second one is made only where there is something to be told of it. */
async function showOnce(
  { asJson, terminal }: CommandInput,
  operator: OperatorClient,
  history: SyncHistory,
): Promise<void> {
  if (history.chains.some(isBehind)) {
    await systemClock.sleep(INTERVAL_MS);
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
  void waitForShutdown(terminal.outputClosed).then(() => ending.abort());
  while (!ending.signal.aborted) {
    if (asJson) terminal.out(toJson(history.chains.map((chain) => withPace(chain, history))));
    else terminal.redraw(history.chains.map((chain) => formatLine(chain, history, terminal)));
    await systemClock.sleep(INTERVAL_MS, ending.signal);
    if (!ending.signal.aborted) await history.read(operator);
  }
}

/** What was read of all chains so far. */
class SyncHistory {
  chains: readonly WatchStatus[] = [];
  readonly #samples = new Map<string, ProgressSample[]>();
  readonly #startBlocks = new Map<string, bigint>();

  async read(operator: OperatorClient): Promise<void> {
    this.chains = (await operator.call("watch status", {})) as WatchStatus[];
    const atMs = systemClock.monotonicMs();
    for (const { chain, recordedBlock, begunBlock, headBlock } of this.chains) {
      if (recordedBlock === null || headBlock === null) continue;
      const mark = { atMs, recorded: BigInt(recordedBlock), head: BigInt(headBlock) };
      const recent = (this.#samples.get(chain) ?? []).filter((one) => atMs - one.atMs <= PACE_WINDOW_MS);
      this.#samples.set(chain, [...recent, mark]);
      // Whoever catches up knows where it began; otherwise it is what was seen of it.
      const begun = begunBlock === null ? (this.#startBlocks.get(chain) ?? mark.recorded) : BigInt(begunBlock);
      this.#startBlocks.set(chain, begun);
    }
  }

  paceOf({ chain }: WatchStatus): Pace | undefined {
    const marks = this.#samples.get(chain) ?? [];
    const [first, last] = [marks.at(0), marks.at(-1)];
    return first && last && computePace(first, last);
  }

  percentOf({ chain }: WatchStatus): number {
    const [begun, last] = [this.#startBlocks.get(chain), this.#samples.get(chain)?.at(-1)];
    return begun === undefined || last === undefined ? 0 : computePercent(begun, last);
  }
}

function isBehind({ behindBlocks }: WatchStatus): boolean {
  return behindBlocks !== null && BigInt(behindBlocks) > CATCH_UP_BLOCKS;
}

function withPace(
  chain: WatchStatus,
  course: SyncHistory,
): WatchStatus & { blocksPerS: number | null; leftMs: number | null } {
  const pace = isBehind(chain) ? course.paceOf(chain) : undefined;
  const blocksPerS = pace === undefined ? null : Math.round(pace.blocksPerS);
  return { ...chain, blocksPerS, leftMs: pace?.remainingMs === undefined ? null : Math.round(pace.remainingMs) };
}

/** How it is with a chain, in few words and the colour of their urgency. */
function describeState(chain: WatchStatus): { words: string; style: Style } {
  if (chain.recordedBlock === null) return { words: "was never read", style: "red" };
  if (chain.headBlock === null) return { words: "no provider answers", style: "red" };
  if (!chain.isWatched) return { words: "nobody watches it", style: "red" };
  if (isBehind(chain)) return { words: "catching up", style: "yellow" };
  return { words: "at the head", style: "green" };
}

function formatDetails(chain: WatchStatus, course: SyncHistory, terminal: Terminal): string[] {
  const { words, style } = describeState(chain);
  const { recordedBlock, headBlock, behindBlocks, lookedAt, askedAt } = chain;
  const age = lookedAt === null ? "" : `${formatDuration(Date.parse(askedAt) - Date.parse(lookedAt))} ago`;
  const entries: [string, string][] = [
    ["recorded", formatBlock(recordedBlock)],
    ["head", formatBlock(headBlock)],
    ["behind", formatLag(chain)],
    ...(isBehind(chain) ? [["pace", formatPace(course.paceOf(chain))] satisfies [string, string]] : []),
    ...(isBehind(chain) && chain.begunBlock !== null
      ? [
          ["done", `${course.percentOf(chain)} % since block ${formatBlock(chain.begunBlock)}`] satisfies [
            string,
            string,
          ],
        ]
      : []),
    ["safe, final", `${formatBlock(chain.safeBlock)}, ${formatBlock(chain.finalBlock)}`],
    ["read again to", formatBlock(chain.rereadBlock)],
    ["last news", age],
    ...chain.providers.map((provider): [string, string] => ["provider", formatProvider(provider, terminal)]),
  ];
  const shown = behindBlocks === null ? entries.filter(([name]) => name !== "behind") : entries;
  const title = `${terminal.paint("bold", chain.chainName)} (${chain.chain}): ${terminal.paint(style, words)}`;
  return [title, ...formatFields(terminal, shown).map((line) => `  ${line}`), ""];
}

function formatProvider({ name, headBlock, trouble, opinion }: ProviderStatus, terminal: Terminal): string {
  if (trouble !== null) return `${name} ${terminal.paint("red", trouble)}`;
  const objection = { agrees: "", behind: "far behind", differs: "differs from what is recorded" }[opinion ?? "agrees"];
  const place = `${name} at ${formatBlock(headBlock)}`;
  return objection === "" ? place : `${place}, ${terminal.paint("yellow", objection)}`;
}

/** One line that fits: who, a bar while it is caught up with, and what can be said in the rest. */
function formatLine(chain: WatchStatus, course: SyncHistory, terminal: Terminal): string {
  const width = Math.min(Math.max(...course.chains.map(({ chainName }) => chainName.length)), 16);
  const name = chain.chainName.slice(0, width).padEnd(width);
  const { words, style } = describeState(chain);
  const room = Math.max(terminal.columns() - 1 - width - 2, 10);
  const failingCount = chain.providers.filter(({ trouble }) => trouble !== null).length;
  const disagreeingCount = chain.providers.filter(
    ({ opinion }) => opinion === "behind" || opinion === "differs",
  ).length;
  const count = chain.providers.length;
  const providerNote = `${failingCount === 0 ? "" : `, ${failingCount} of ${count} providers fail`}${disagreeingCount === 0 ? "" : `, ${disagreeingCount} of ${count} object`}`;
  if (!isBehind(chain) || style === "red") {
    const suffix =
      style === "red"
        ? providerNote
        : `  ${formatBlock(chain.recordedBlock)} (${formatLag(chain)} behind)${providerNote}`;
    return `${name}  ${terminal.paint(style, words.slice(0, room))}${suffix.slice(0, Math.max(room - words.length, 0))}`;
  }
  const percent = course.percentOf(chain);
  const rest = ` ${String(percent).padStart(3)} %  ${formatPace(course.paceOf(chain))}`;
  const cells = Math.min(BAR_CELLS_MAX, Math.max(BAR_CELLS_MIN, room - rest.length));
  const full = Math.floor((percent * cells) / 100);
  const bar = terminal.paint("cyan", "█".repeat(full)) + terminal.paint("dim", "░".repeat(cells - full));
  return `${name}  ${bar}${`${rest}${providerNote}`.slice(0, Math.max(room - cells, 0))}`;
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

/** The two largest units that say something: 2 h 3 min, 4 min, 0 s. */
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
