import { closeSync, openSync, rmSync, writeSync } from "node:fs";
import type { Command, CommandInput } from "./command.ts";
import { CommandFailed, UsageRefused } from "./command.ts";
import { askOnce, CONFIG_OPTION, openOperator } from "./operator.ts";
import type { LedgerLine, LedgerPage, ShownBalance } from "./operations/ledger.ts";
import { table, toJson } from "./terminal.ts";

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

async function runExport(input: CommandInput): Promise<number> {
  const { text } = input;
  const format = input.asJson ? "jsonl" : (text["format"] ?? "csv");
  if (format !== "csv" && format !== "jsonl") throw new UsageRefused(`--format is csv or jsonl, not ${format}.`);
  const operator = await openOperator(input);
  const sink = openSink(input);
  let isWhole = false;
  try {
    if (format === "csv") sink.line(COLUMNS.join(","));
    const question = { account: text["account"], from: text["from"], to: text["to"] };
    let next: LedgerPage["next"] = { posting: "0", place: 0 };
    for (let pages = 0; next !== null && pages < PAGES_MAX && sink.isRead(); pages += 1) {
      const page = (await operator.ask("ledger page", { ...question, ...next })) as LedgerPage;
      for (const line of page.lines) sink.line(format === "csv" ? csvOf(line) : toJson(line));
      next = page.next;
    }
    isWhole = next === null;
  } finally {
    sink.close(isWhole);
    await operator.close();
  }
  return 0;
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
  const descriptor = openNew(file);
  return {
    line: (line) => void writeSync(descriptor, `${line}\n`),
    isRead: () => true,
    close(isWhole) {
      closeSync(descriptor);
      if (!isWhole) rmSync(file, { force: true });
    },
  };
}

function openNew(file: string): number {
  try {
    return openSync(file, "wx", 0o600);
  } catch (error) {
    throw new CommandFailed(`${file} cannot be written: ${error instanceof Error ? error.message : String(error)}`);
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
