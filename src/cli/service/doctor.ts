import type { Command, CommandInput } from "../command.ts";
import { UsageError } from "../../operator/errors.ts";
import { CONFIG_OPTION, openOperatorClient } from "../operatorClient.ts";
import { checkNetworks } from "../chains/checkNetworks.ts";
import { recordProviders } from "../chains/recordProviders.ts";
import type { Finding } from "../../operator/doctor/finding.ts";
import { toJson, type Terminal } from "../../operator/process/terminal.ts";

export const doctor: Command = {
  name: "doctor",
  summary: "check chains, gas, sums and stuck payments",
  help: "Check chains, gas, sums and stuck payments; change nothing, and exit with 1 when a check fails",
  positionals: [],
  options: {
    ledger: { summary: "instead run every check of the ledger and compare it with the chains" },
    inboxes: {
      value: "COUNT",
      summary: "with --ledger: number of inboxes to compare, newest first; default all",
    },
    network: {
      value: "NETWORK|all",
      summary: "instead compare a public network's entry in the catalogue with the chain; all: each configured one",
    },
    record: {
      value: "FILE",
      summary:
        "instead write the shapes of what the providers of EVM chains answer, and compare them with what is known",
    },
    rpc: { value: "URL", summary: "with --network: ask this node; default the configured ones, else the public ones" },
    ...CONFIG_OPTION,
  },
  examples: [
    "tributary doctor",
    "tributary doctor --ledger",
    "tributary doctor --network base",
    "tributary doctor --record answers.json --config my.json",
    "tributary doctor --config my.json --json",
  ],
  run: runDoctor,
};

async function runDoctor(input: CommandInput): Promise<number> {
  const findings = await fetchFindings(input);
  if (input.asJson) input.terminal.out(toJson(findings));
  else for (const line of formatFindings(findings, input.terminal)) input.terminal.out(line);
  return findings.some(({ verdict }) => verdict === "fail") ? 1 : 0;
}

async function fetchFindings(input: CommandInput): Promise<Finding[]> {
  const { inboxes } = input.values;
  const isLedger = input.flags.has("ledger");
  const { record } = input.values;
  if (record !== undefined) {
    if (isLedger || input.values["network"] !== undefined)
      throw new UsageError("--record, --network and --ledger are checks of their own: give one of them.");
    return recordProviders(input, record);
  }
  if (input.values["network"] !== undefined) {
    if (isLedger) throw new UsageError("--network and --ledger are two checks: give one of them.");
    return checkNetworks(input);
  }
  if (input.values["rpc"] !== undefined) throw new UsageError("--rpc needs --network.");
  if (inboxes !== undefined && !isLedger) throw new UsageError("--inboxes needs --ledger.");
  const operator = await openOperatorClient(input);
  try {
    return isLedger ? await operator.call("ledger check", { inboxes }) : await operator.call("doctor", {});
  } finally {
    await operator.close();
  }
}

function formatFindings(findings: readonly Finding[], terminal: Terminal): string[] {
  const marks = {
    ok: terminal.paint("green", "✓"),
    warn: terminal.paint("yellow", "!"),
    fail: terminal.paint("red", "✗"),
  };
  const width = Math.max(...findings.map(({ what }) => what.length));
  return findings.map(({ what, verdict, found }) => `${marks[verdict]} ${what.padEnd(width)}  ${found}`);
}
