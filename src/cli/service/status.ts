import { systemTimer } from "../../kernel/clock.ts";
import { waitForShutdown } from "../../operator/process/shutdown.ts";
import { formatTable, toJson, type Terminal } from "../../operator/process/terminal.ts";
import type { ChainStatus, StatusOutput } from "../../operator/status/getStatus.ts";
import type { Command, CommandInput } from "../command.ts";
import { CONFIG_OPTION, openOperatorClient } from "../operatorClient.ts";

export const status: Command = {
  name: "status",
  summary: "show alarms and what each chain has to do, as one table",
  help: "Show alarms with their remedies, and what each chain has to do; exit with 1 when there is an alarm",
  positionals: [],
  options: { watch: { summary: "refresh every 2 seconds until interrupted" }, ...CONFIG_OPTION },
  examples: ["tributary status", "tributary status --watch", "tributary status --json"],
  run: runStatus,
};

const INTERVAL_MS = 2_000;

async function runStatus({ terminal, asJson, flags, ...input }: CommandInput): Promise<number> {
  const operator = await openOperatorClient({ terminal, asJson, flags, ...input });
  const read = async () => await operator.call("status", {});
  try {
    let output = await read();
    if (!flags.has("watch")) {
      const lines = asJson ? [toJson(output)] : formatStatus(output, terminal);
      for (const line of lines) terminal.out(line);
      return output.alarms.length === 0 ? 0 : 1;
    }
    const ending = new AbortController();
    void waitForShutdown({ signal: terminal.outputClosed }).then(() => ending.abort());
    while (!ending.signal.aborted) {
      if (asJson) terminal.out(toJson(output));
      else terminal.redraw(formatStatus(output, terminal));
      await systemTimer.sleep(INTERVAL_MS, ending.signal);
      if (!ending.signal.aborted) output = await read();
    }
    return 0;
  } finally {
    await operator.close();
  }
}

const HEADER = ["chain", "head", "scanned", "seen", "confirmed", "held", "due", "planned", "sent", "refused", "gas"];

/** The road as one table: a chain's blocks, then its deposits, then its settlements, then what pays for them. */
function formatStatus({ baseUrl, alarms, chains }: StatusOutput, terminal: Terminal): string[] {
  return [
    `${terminal.paint("bold", baseUrl)}  ${alarms.length === 0 ? terminal.paint("green", "no alarm") : terminal.paint("red", `${alarms.length} alarms`)}`,
    "",
    ...formatTable(terminal, HEADER, chains.map(toRow)),
    ...alarms.flatMap(({ alarm, subject, since, happened, affects, remedy }) => [
      "",
      `${terminal.paint("red", alarm)} ${subject}, since ${since}`,
      `  ${happened}`,
      `  Affected: ${affects}`,
      `  Remedy: ${remedy}`,
    ]),
  ];
}

function toRow({ chainName, headBlock, scannedBlock, deposits, due, settlements, gas }: ChainStatus): string[] {
  return [
    chainName,
    formatBlock(headBlock),
    formatBlock(scannedBlock),
    ...[deposits.seen, deposits.confirmed, deposits.held, due].map(String),
    ...[settlements.planned, settlements.submitted, settlements.held].map(String),
    gas === null ? "unknown" : `${gas.settlementsLeft} settlements (${gas.balance})`,
  ];
}

function formatBlock(number: string | null): string {
  return number === null ? "unknown" : BigInt(number).toLocaleString("en");
}
