import type { OriginOutput } from "../../operator/originOperations.ts";
import { formatTable } from "../../operator/process/terminal.ts";
import { operatorCommand } from "../operatorCommand.ts";

const ORIGIN = { name: "origin", summary: "chain and token, such as base:usdc, or a CAIP-19 id" } as const;

export const originsList = operatorCommand({
  operation: "origins list",
  summary: "list the origins and whether they get source inboxes",
  help: "List the origins and whether they get source inboxes",
  examples: ["tributary origins list"],
  print: (origins, { terminal }) => {
    const rows = origins.map((origin) => [
      origin.origin,
      formatOriginState(origin),
      origin.gate,
      formatHints(origin),
      origin.caip19,
    ]);
    return formatTable(terminal, ["origin", "inboxes", "gate", "hints", "asset"], rows);
  },
});

export const originsEnable = operatorCommand({
  operation: "origins enable",
  summary: "issue source inboxes for an origin again",
  help: "Issue source inboxes for an origin again, in every process from the next call on",
  positionals: [ORIGIN],
  examples: ["tributary origins enable base:usdc"],
  print: (origin) => [`${origin.origin}: ${formatOriginState(origin)}.`],
});

export const originsDisable = operatorCommand({
  operation: "origins disable",
  summary: "stop issuing source inboxes for an origin",
  help: "Stop issuing source inboxes for an origin; existing inboxes stay and their deposits count",
  positionals: [ORIGIN],
  examples: ["tributary origins disable base:usdc"],
  print: (origin) => [`${origin.origin}: ${formatOriginState(origin)}.`],
});

/** Each provider that says where to look, and when it last did. */
function formatHints({ hints }: OriginOutput): string {
  if (hints.length === 0) return "none";
  const times = hints.map(({ provider, isOpen, lastAt }) =>
    lastAt === null ? `${provider}: ${isOpen ? "never" : "no secret"}` : `${provider}: ${lastAt}`,
  );
  return times.join(", ");
}

function formatOriginState({ offBy }: Pick<OriginOutput, "offBy">): string {
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
