import { CHAIN_NAMES } from "./chainName.ts";
import type { Command, CommandInput } from "./command.ts";
import { askOnce, CONFIG_OPTION } from "./operator.ts";
import type { ShownRescan } from "./operations/rescan.ts";
import { toJson } from "./terminal.ts";

export const rescan: Command = {
  name: "rescan",
  summary: "Read a transaction, or an intent's inbox, from the chain again; nothing is ever counted twice",
  positionals: [{ name: "target", summary: "an intent, pi_…, or a transaction, 0x…" }],
  options: {
    chain: { value: "CHAIN", summary: `only this chain's transaction: ${CHAIN_NAMES}` },
    blocks: { value: "COUNT", summary: "how far back an inbox is looked up; 50000 when left out" },
    ...CONFIG_OPTION,
  },
  examples: ["tributary rescan pi_3x7…", "tributary rescan 0x5c50… --chain base"],
  run: runRescan,
};

const WORDS: Readonly<Record<ShownRescan["outcome"], string>> = {
  read: "read again",
  unknown: "knows no such transaction",
  reverted: "the transaction reverted and moved nothing",
  ahead: "the block is not read yet, and will be in its turn",
  unwatched: "was never read: is its provider down?",
};

async function runRescan(input: CommandInput): Promise<number> {
  const { positionals, text, terminal, asJson } = input;
  const question = { target: positionals[0], chain: text["chain"], blocks: text["blocks"] };
  const rescans = (await askOnce(input, "rescan", question)) as ShownRescan[];
  if (asJson) terminal.out(toJson(rescans));
  else for (const line of rescans.flatMap(linesOf)) terminal.out(line);
  return 0;
}

function linesOf({ chainName, outcome, recorded }: ShownRescan): string[] {
  const found = outcome === "read" ? `, ${recorded.length === 0 ? "nothing new" : `${recorded.length} new`}` : "";
  const movements = recorded.map(
    ({ direction, amountUnits, token, intentId, txHash }) =>
      `  ${direction === "in" ? "into" : "out of"} ${intentId}: ${amountUnits} units of ${token}, ${txHash}`,
  );
  return [`${chainName}: ${WORDS[outcome]}${found}`, ...movements];
}
