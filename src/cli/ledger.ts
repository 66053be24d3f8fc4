import { closeSync, openSync, rmSync, writeSync } from "node:fs";
import { dirname } from "node:path";
import type { Command, CommandInput } from "./command.ts";
import { CommandFailed, UsageRefused } from "./command.ts";
import { askOnce, CONFIG_OPTION, openOperator } from "./operator.ts";
import type { LedgerLine, LedgerPage, ShownBalance } from "./operations/ledger.ts";
import { table, toJson } from "./terminal.ts";
import { readTime } from "./typed.ts";

export const ledgerExport: Command = {
  name: "ledger export",
  summary: "Write the entries of the ledger for accountants, in the order in which they were booked",
  positionals: [],
  options: {
    format: { value: "FORMAT", summary: "csv or jsonl; csv when left out" },
    account: {
      value: "ACCOUNT",
      summary: "only this merchant's, acct_…, or only this account of the ledger, such as payout:world",
    },
    from: { value: "TIME", summary: "booked at this day or time (UTC), or later" },
    to: { value: "TIME", summary: "booked before this day or time (UTC)" },
    out: { value: "FILE", summary: "write a new file instead of standard output" },
    ...CONFIG_OPTION,
  },
  examples: [
    "tributary ledger export --from 2026-11-01 --to 2026-12-01 --out november.csv",
    "tributary ledger export --format jsonl --account fee:platform",
  ],
  run: runExport,
};

export const ledgerBalances: Command = {
  name: "ledger balances",
  summary: "Show what each account of the ledger has come to",
  positionals: [],
  options: CONFIG_OPTION,
  examples: ["tributary ledger balances"],
  run: runBalances,
};

const COLUMNS = [
  "posting",
  "place",
  "bookedAt",
  "account",
  "asset",
  "amountUnits",
  "intentId",
  "accountId",
  "chain",
  "txHash",
  "blockNumber",
  "reverses",
] as const satisfies readonly (keyof LedgerLine)[];

/** A thousand entries a page: more than any period of one installation. */
const PAGES_MAX = 1_000_000;

type Format = "csv" | "jsonl";
type Question = Readonly<Record<"account" | "from" | "to", string | undefined>>;

async function runExport(input: CommandInput): Promise<number> {
  const format = readFormat(input);
  const question = readQuestion(input);
  const operator = await openOperator(input);
  try {
    const ask = async (next: NonNullable<LedgerPage["next"]>) =>
      (await operator.ask("ledger page", { ...question, ...next })) as LedgerPage;
    // What is refused leaves neither a header nor a file.
    const first = await ask({ posting: "0", place: 0 });
    await writePages(input, { format, first, ask });
  } finally {
    await operator.close();
  }
  return 0;
}

function readFormat({ text, asJson }: CommandInput): Format {
  const format = asJson ? "jsonl" : (text["format"] ?? "csv");
  if (format === "csv" || format === "jsonl") return format;
  throw new UsageRefused(`--format is csv or jsonl, not ${format}.`);
}

function readQuestion({ text }: CommandInput): Question {
  const [from, to] = [readTime(text, "from"), readTime(text, "to")];
  if (from !== undefined && to !== undefined && from >= to) throw new UsageRefused("--from must be before --to.");
  return { account: text["account"], from, to };
}

type Pages = {
  format: Format;
  first: LedgerPage;
  ask: (next: NonNullable<LedgerPage["next"]>) => Promise<LedgerPage>;
};

async function writePages(input: CommandInput, { format, first, ask }: Pages): Promise<void> {
  const sink = openSink(input);
  let page = first;
  let count = 0;
  let isWhole = false;
  try {
    if (format === "csv") sink.line(COLUMNS.join(","));
    for (let pages = 1; ; pages += 1) {
      for (const line of page.lines) sink.line(format === "csv" ? csvOf(line) : toJson(line));
      count += page.lines.length;
      if (page.next === null || pages >= PAGES_MAX || !sink.isRead()) break;
      page = await ask(page.next);
    }
    isWhole = page.next === null;
  } finally {
    sink.close(isWhole);
  }
  const file = input.text["out"];
  if (count === 0 && file === undefined) input.terminal.note("There are no such entries.");
  if (isWhole && file !== undefined)
    input.terminal.note(`${count === 1 ? "1 entry was" : `${count} entries were`} written to ${file}.`);
}

type Sink = {
  line(line: string): void;
  /** Whether anybody still wants lines. */
  isRead(): boolean;
  close(isWhole: boolean): void;
};

/** Half a file would be taken for a whole one, so a file that was not finished is taken away again. */
function openSink({ text, terminal }: CommandInput): Sink {
  const file = text["out"];
  if (file === undefined) {
    return { line: (line) => terminal.out(line), isRead: () => !terminal.unread.aborted, close: () => {} };
  }
  const descriptor = writing(file, () => openSync(file, "wx", 0o600));
  return {
    line: (line) => void writing(file, () => writeSync(descriptor, `${line}\n`)),
    isRead: () => true,
    close(isWhole) {
      closeSync(descriptor);
      if (!isWhole) rmSync(file, { force: true });
    },
  };
}

function writing<T>(file: string, write: () => T): T {
  try {
    return write();
  } catch (error) {
    const code = error instanceof Error && "code" in error ? error.code : undefined;
    if (code === "EEXIST") throw new CommandFailed(`${file} exists, and it is not overwritten.`);
    const reason = error instanceof Error ? error.message : String(error);
    const why = code === "ENOENT" ? `there is no folder ${dirname(file)}.` : reason;
    throw new CommandFailed(`${file} cannot be written: ${why}`);
  }
}

function csvOf(line: LedgerLine): string {
  return COLUMNS.map((column) => csvField(String(line[column]))).join(",");
}

function csvField(text: string): string {
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

async function runBalances(input: CommandInput): Promise<number> {
  const balances = (await askOnce(input, "ledger balances", {})) as ShownBalance[];
  if (input.asJson) input.terminal.out(toJson(balances));
  else {
    const rows = balances.map(({ account, asset, units }) => [account, String(units), asset]);
    for (const line of table(input.terminal, ["account", "units", "asset"], rows)) input.terminal.out(line);
  }
  return 0;
}
