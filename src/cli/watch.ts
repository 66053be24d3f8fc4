import { systemClock } from "../kernel/clock.ts";
import { paceBetween, percentDone, type Mark, type Pace } from "../watch/pace.ts";
import type { Command, CommandInput } from "./command.ts";
import { CONFIG_OPTION, openOperator, type Operator } from "./operator.ts";
import type { ShownProvider, ShownWatch } from "./operations/watch.ts";
import { untilEnd } from "./run.ts";
import { listing, toJson, type Style, type Terminal } from "./terminal.ts";

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
const PACE_MS = 30_000;
/** So far behind a chain is being caught up with; nearer, it is on its way from one block to the next. */
const BEHIND_BLOCKS = 64n;
const BAR_CELLS_MIN = 5;
const BAR_CELLS_MAX = 20;

async function runStatus(input: CommandInput): Promise<number> {
  const operator = await openOperator(input);
  try {
    const course = new Course();
    await course.read(operator);
    if (input.switches.has("follow")) await follow(input, operator, course);
    else await showOnce(input, operator, course);
  } finally {
    await operator.close();
  }
  return 0;
}

/** A pace takes two readings: the second one is made only where there is something to be told of it. */
async function showOnce({ asJson, terminal }: CommandInput, operator: Operator, course: Course): Promise<void> {
  if (course.chains.some(isBehind)) {
    await systemClock.sleep(INTERVAL_MS);
    await course.read(operator);
  }
  if (asJson) terminal.out(toJson(course.chains.map((chain) => withPace(chain, course))));
  else for (const line of course.chains.flatMap((chain) => linesOf(chain, course, terminal))) terminal.out(line);
}

async function follow({ asJson, terminal }: CommandInput, operator: Operator, course: Course): Promise<void> {
  const ending = new AbortController();
  void untilEnd(terminal.unread).then(() => ending.abort());
  while (!ending.signal.aborted) {
    if (asJson) terminal.out(toJson(course.chains.map((chain) => withPace(chain, course))));
    else terminal.redraw(course.chains.map((chain) => lineOf(chain, course, terminal)));
    await systemClock.sleep(INTERVAL_MS, ending.signal);
    if (!ending.signal.aborted) await course.read(operator);
  }
}

/** What was read of all chains so far. */
class Course {
  chains: readonly ShownWatch[] = [];
  readonly #marks = new Map<string, Mark[]>();
  readonly #begun = new Map<string, bigint>();

  async read(operator: Operator): Promise<void> {
    this.chains = (await operator.ask("watch status", {})) as ShownWatch[];
    const atMs = systemClock.monotonicMs();
    for (const { chain, recordedBlock, begunBlock, headBlock } of this.chains) {
      if (recordedBlock === null || headBlock === null) continue;
      const mark = { atMs, recorded: BigInt(recordedBlock), head: BigInt(headBlock) };
      const recent = (this.#marks.get(chain) ?? []).filter((one) => atMs - one.atMs <= PACE_MS);
      this.#marks.set(chain, [...recent, mark]);
      // Whoever catches up knows where it began; otherwise it is what was seen of it.
      const begun = begunBlock === null ? (this.#begun.get(chain) ?? mark.recorded) : BigInt(begunBlock);
      this.#begun.set(chain, begun);
    }
  }

  paceOf({ chain }: ShownWatch): Pace | undefined {
    const marks = this.#marks.get(chain) ?? [];
    const [first, last] = [marks.at(0), marks.at(-1)];
    return first && last && paceBetween(first, last);
  }

  percentOf({ chain }: ShownWatch): number {
    const [begun, last] = [this.#begun.get(chain), this.#marks.get(chain)?.at(-1)];
    return begun === undefined || last === undefined ? 0 : percentDone(begun, last);
  }
}

function isBehind({ behindBlocks }: ShownWatch): boolean {
  return behindBlocks !== null && BigInt(behindBlocks) > BEHIND_BLOCKS;
}

function withPace(
  chain: ShownWatch,
  course: Course,
): ShownWatch & { blocksPerS: number | null; leftMs: number | null } {
  const pace = isBehind(chain) ? course.paceOf(chain) : undefined;
  const blocksPerS = pace === undefined ? null : Math.round(pace.blocksPerS);
  return { ...chain, blocksPerS, leftMs: pace?.leftMs === undefined ? null : Math.round(pace.leftMs) };
}

/** How it is with a chain, in few words and the colour of their urgency. */
function stateOf(chain: ShownWatch): { words: string; style: Style } {
  if (chain.recordedBlock === null) return { words: "was never read", style: "red" };
  if (chain.headBlock === null) return { words: "no provider answers", style: "red" };
  if (!chain.isWatched) return { words: "nobody watches it", style: "red" };
  if (isBehind(chain)) return { words: "catching up", style: "yellow" };
  return { words: "at the head", style: "green" };
}

function linesOf(chain: ShownWatch, course: Course, terminal: Terminal): string[] {
  const { words, style } = stateOf(chain);
  const { recordedBlock, headBlock, behindBlocks, lookedAt, askedAt } = chain;
  const age = lookedAt === null ? "" : `${spanOf(Date.parse(askedAt) - Date.parse(lookedAt))} ago`;
  const entries: [string, string][] = [
    ["recorded", blockOf(recordedBlock)],
    ["head", blockOf(headBlock)],
    ["behind", behindInWords(chain)],
    ...(isBehind(chain) ? [["pace", paceInWords(course.paceOf(chain))] satisfies [string, string]] : []),
    ...(isBehind(chain) && chain.begunBlock !== null
      ? [["done", `${course.percentOf(chain)} % since block ${blockOf(chain.begunBlock)}`] satisfies [string, string]]
      : []),
    ["safe, final", `${blockOf(chain.safeBlock)}, ${blockOf(chain.finalBlock)}`],
    ["read again to", blockOf(chain.rereadBlock)],
    ["last news", age],
    ...chain.providers.map((provider): [string, string] => ["provider", providerInWords(provider, terminal)]),
  ];
  const shown = behindBlocks === null ? entries.filter(([name]) => name !== "behind") : entries;
  const title = `${terminal.paint("bold", chain.chainName)} (${chain.chain}): ${terminal.paint(style, words)}`;
  return [title, ...listing(terminal, shown).map((line) => `  ${line}`), ""];
}

function providerInWords({ name, headBlock, trouble, opinion }: ShownProvider, terminal: Terminal): string {
  if (trouble !== null) return `${name} ${terminal.paint("red", trouble)}`;
  const objection = { agrees: "", behind: "far behind", differs: "differs from what is recorded" }[opinion ?? "agrees"];
  const place = `${name} at ${blockOf(headBlock)}`;
  return objection === "" ? place : `${place}, ${terminal.paint("yellow", objection)}`;
}

/** One line that fits: who, a bar while it is caught up with, and what can be said in the rest. */
function lineOf(chain: ShownWatch, course: Course, terminal: Terminal): string {
  const width = Math.min(Math.max(...course.chains.map(({ chainName }) => chainName.length)), 16);
  const name = chain.chainName.slice(0, width).padEnd(width);
  const { words, style } = stateOf(chain);
  const room = Math.max(terminal.columns() - 1 - width - 2, 10);
  const fail = chain.providers.filter(({ trouble }) => trouble !== null).length;
  const object = chain.providers.filter(({ opinion }) => opinion === "behind" || opinion === "differs").length;
  const count = chain.providers.length;
  const failing = `${fail === 0 ? "" : `, ${fail} of ${count} providers fail`}${object === 0 ? "" : `, ${object} of ${count} object`}`;
  if (!isBehind(chain) || style === "red") {
    const rest =
      style === "red" ? failing : `  ${blockOf(chain.recordedBlock)} (${behindInWords(chain)} behind)${failing}`;
    return `${name}  ${terminal.paint(style, words.slice(0, room))}${rest.slice(0, Math.max(room - words.length, 0))}`;
  }
  const percent = course.percentOf(chain);
  const rest = ` ${String(percent).padStart(3)} %  ${paceInWords(course.paceOf(chain))}`;
  const cells = Math.min(BAR_CELLS_MAX, Math.max(BAR_CELLS_MIN, room - rest.length));
  const full = Math.floor((percent * cells) / 100);
  const bar = terminal.paint("cyan", "█".repeat(full)) + terminal.paint("dim", "░".repeat(cells - full));
  return `${name}  ${bar}${`${rest}${failing}`.slice(0, Math.max(room - cells, 0))}`;
}

function behindInWords({ behindBlocks, behindMs }: ShownWatch): string {
  const blocks = behindBlocks === "1" ? "1 block" : `${blockOf(behindBlocks)} blocks`;
  return behindMs === null || behindMs === 0 ? blocks : `${blocks}, ${spanOf(behindMs)}`;
}

function paceInWords(pace: Pace | undefined): string {
  if (pace === undefined) return "…";
  const speed = `${Math.round(pace.blocksPerS).toLocaleString("en")} blocks/s`;
  return pace.leftMs === undefined ? `${speed}, falling behind` : `${speed}, ${spanOf(pace.leftMs)} left`;
}

function blockOf(number: string | null): string {
  return number === null ? "none" : BigInt(number).toLocaleString("en");
}

const SPANS: readonly (readonly [name: string, ms: number])[] = [
  ["d", 86_400_000],
  ["h", 3_600_000],
  ["min", 60_000],
  ["s", 1_000],
];

/** The two largest units that say something: 2 h 3 min, 4 min, 0 s. */
function spanOf(ms: number): string {
  const seconds = Math.max(0, Math.round(ms / 1_000)) * 1_000;
  const at = SPANS.findIndex(([, unit]) => seconds >= unit);
  if (at < 0) return "0 s";
  let left = seconds;
  return SPANS.slice(at, at + 2)
    .map(([name, unit]) => {
      const count = Math.floor(left / unit);
      left -= count * unit;
      return count === 0 ? "" : `${count} ${name}`;
    })
    .filter((part) => part !== "")
    .join(" ");
}
