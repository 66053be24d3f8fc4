import type { Command, CommandInput } from "../command.ts";
import { callOnce, CONFIG_OPTION } from "../operatorClient.ts";
import type { OriginOutput } from "../../operator/originOperations.ts";
import { formatTable, toJson } from "../../operator/process/terminal.ts";

const ORIGIN = { name: "origin", summary: "chain and token, such as base:usdc, or a CAIP-19 id" } as const;

export const originsList: Command = {
  name: "origins list",
  summary: "List the origins and whether they get source inboxes",
  positionals: [],
  options: CONFIG_OPTION,
  examples: ["tributary origins list"],
  run: runList,
};

export const originsEnable: Command = {
  name: "origins enable",
  summary: "Issue source inboxes for an origin again, in every process from the next call on",
  positionals: [ORIGIN],
  options: CONFIG_OPTION,
  examples: ["tributary origins enable base:usdc"],
  run: (input) => runSetEnabled(input, "origins enable"),
};

export const originsDisable: Command = {
  name: "origins disable",
  summary: "Stop issuing source inboxes for an origin; existing inboxes stay and their deposits count",
  positionals: [ORIGIN],
  options: CONFIG_OPTION,
  examples: ["tributary origins disable base:usdc"],
  run: (input) => runSetEnabled(input, "origins disable"),
};

async function runList(input: CommandInput): Promise<number> {
  const { terminal, asJson } = input;
  const origins = await callOnce(input, "origins list", {});
  if (asJson) terminal.out(toJson(origins));
  else {
    const rows = origins.map((origin) => [origin.origin, formatOriginState(origin), origin.gate, origin.caip19]);
    for (const line of formatTable(terminal, ["origin", "inboxes", "gate", "asset"], rows)) terminal.out(line);
  }
  return 0;
}

async function runSetEnabled(input: CommandInput, operation: "origins enable" | "origins disable"): Promise<number> {
  const { positionals, terminal, asJson } = input;
  const shown = await callOnce(input, operation, { origin: positionals[0] });
  terminal.out(asJson ? toJson(shown) : `${shown.origin}: ${formatOriginState(shown)}.`);
  return 0;
}

function formatOriginState({ offBy }: OriginOutput): string {
  switch (offBy) {
    case null:
      return "issued";
    case "switch":
      return "switched off";
    case "configuration":
      return "off in the configuration";
    case "no gate":
      return "off, because no gate is configured";
  }
}
