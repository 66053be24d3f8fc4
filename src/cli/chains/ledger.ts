import { closeSync, openSync, rmSync, writeSync } from "node:fs";
import { dirname } from "node:path";
import { formatUnits } from "../../kernel/units.ts";
import type { Command, CommandInput } from "../command.ts";
import { CommandError, UsageError } from "../../operator/errors.ts";
import { CONFIG_OPTION, openOperatorClient } from "../operatorClient.ts";
import { operatorCommand } from "../operatorCommand.ts";
import type { LedgerLine, LedgerPage } from "../../operator/ledgerOperations.ts";
import { formatTable, toJson } from "../../operator/process/terminal.ts";
import { readTime } from "../optionParsers.ts";

export const ledgerExport: Command = {
  name: "ledger export",
  summary: "write the ledger's entries as CSV or JSON lines",
  help: "Write the ledger's entries as CSV or JSON lines, in booking order",
  positionals: [],
  options: {
    format: { value: "FORMAT", summary: "csv or jsonl; default csv" },
    account: {
      value: "ACCOUNT",
      summary: "only this merchant (acct_…), or this ledger account, such as payout:world",
    },
    from: { value: "TIME", summary: "only entries booked at or after this day or time (UTC)" },
    to: { value: "TIME", summary: "only entries booked before this day or time (UTC)" },
    out: { value: "FILE", summary: "write to a new file instead of standard output" },
    ...CONFIG_OPTION,
  },
  examples: [
    "tributary ledger export --from 2026-11-01 --to 2026-12-01 --out november.csv",
    "tributary ledger export --format jsonl --account fee:platform",
  ],
  run: runExport,
};

export const ledgerBalances = operatorCommand({
  operation: "ledger balances",
  summary: "show the balance of each ledger account",
  help: "Show the balance of each ledger account",
  examples: ["tributary ledger balances"],
  print: (balances, { terminal }) => {
    const rows = balances.map(({ account, asset, units, token }) => [
      account,
      token === null ? `${units} units` : `${formatUnits(BigInt(units), token.decimals)} ${token.symbol}`,
      asset,
    ]);
    return formatTable(terminal, ["account", "balance", "asset"], rows);
  },
});

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

/** Bounds the loop. With a thousand entries a page, one installation never reaches it. */
const PAGES_MAX = 1_000_000;

type Format = "csv" | "jsonl";
type ExportFilter = Readonly<Record<"account" | "from" | "to", string | undefined>>;

async function runExport(input: CommandInput): Promise<number> {
  const format = readFormat(input);
  const filter = readFilter(input);
  const operator = await openOperatorClient(input);
  try {
    const fetchPage = async (next: NonNullable<LedgerPage["next"]>) =>
      await operator.call("ledger export", { ...filter, ...next });
    // The first page comes before the header, so that a rejected filter writes nothing and creates no file.
    const first = await fetchPage({ posting: "0", place: 0 });
    await writePages(input, { format, first, fetchPage });
  } finally {
    await operator.close();
  }
  return 0;
}

function readFormat({ values, asJson }: CommandInput): Format {
  const format = asJson ? "jsonl" : (values["format"] ?? "csv");
  if (format === "csv" || format === "jsonl") return format;
  throw new UsageError(`--format must be csv or jsonl, not ${format}.`);
}

function readFilter({ values }: CommandInput): ExportFilter {
  const [from, to] = [readTime(values, "from"), readTime(values, "to")];
  if (from !== undefined && to !== undefined && from >= to) throw new UsageError("--from must be before --to.");
  return { account: values["account"], from, to };
}

type ExportPages = {
  format: Format;
  first: LedgerPage;
  fetchPage: (next: NonNullable<LedgerPage["next"]>) => Promise<LedgerPage>;
};

async function writePages(input: CommandInput, { format, first, fetchPage }: ExportPages): Promise<void> {
  const sink = openSink(input);
  let page = first;
  let count = 0;
  let isComplete = false;
  try {
    if (format === "csv") sink.writeLine(COLUMNS.join(","));
    for (let pages = 1; ; pages += 1) {
      for (const line of page.lines) sink.writeLine(format === "csv" ? toCsvLine(line) : toJson(line));
      count += page.lines.length;
      if (page.next === null || pages >= PAGES_MAX || !sink.isOpen()) break;
      page = await fetchPage(page.next);
    }
    isComplete = page.next === null;
  } finally {
    sink.close(isComplete);
  }
  const file = input.values["out"];
  if (count === 0 && file === undefined) input.terminal.note("No entries match.");
  if (isComplete && file !== undefined)
    input.terminal.note(`Wrote ${count === 1 ? "1 entry" : `${count} entries`} to ${file}.`);
}

type Sink = {
  writeLine(line: string): void;
  /** False after the reader closed the pipe. */
  isOpen(): boolean;
  close(isComplete: boolean): void;
};

/** Opens the output. An incomplete file is removed on close, because it looks like a complete one. */
function openSink({ values, terminal }: CommandInput): Sink {
  const file = values["out"];
  if (file === undefined) {
    return { writeLine: (line) => terminal.out(line), isOpen: () => !terminal.outputClosed.aborted, close: () => {} };
  }
  const descriptor = withFileErrors(file, () => openSync(file, "wx", 0o600));
  return {
    writeLine: (line) => void withFileErrors(file, () => writeSync(descriptor, `${line}\n`)),
    isOpen: () => true,
    close(isComplete) {
      closeSync(descriptor);
      if (!isComplete) rmSync(file, { force: true });
    },
  };
}

function withFileErrors<T>(file: string, write: () => T): T {
  try {
    return write();
  } catch (error) {
    const code = error instanceof Error && "code" in error ? error.code : undefined;
    if (code === "EEXIST") throw new CommandError(`${file} already exists: name a new file in --out.`);
    const reason = error instanceof Error ? error.message : String(error);
    const cause = code === "ENOENT" ? `the folder ${dirname(file)} does not exist.` : reason;
    throw new CommandError(`${file} cannot be written: ${cause}`);
  }
}

function toCsvLine(line: LedgerLine): string {
  return COLUMNS.map((column) => csvField(String(line[column]))).join(",");
}

function csvField(text: string): string {
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
