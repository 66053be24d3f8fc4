import { CHAIN_NAME_FORMS } from "../../config/chainName.ts";
import type { RescanOutput } from "../../operator/rescanTarget.ts";
import { operatorCommand } from "../operatorCommand.ts";

export const rescan = operatorCommand({
  operation: "rescan",
  summary: "read the chain again for an intent or a transaction",
  help: "Read a transaction or an intent's inbox from the chain again; recorded deposits do not count twice",
  positionals: [{ name: "target", summary: "intent id (pi_…) or transaction hash (0x…)" }],
  options: {
    chain: { value: "CHAIN", summary: `look up the transaction on this chain only: ${CHAIN_NAME_FORMS}` },
    blocks: { value: "COUNT", summary: "blocks to search for transfers of an inbox; default 50000" },
  },
  examples: ["tributary rescan pi_3x7…", "tributary rescan 0x5c50… --chain base"],
  print: (rescans) => rescans.flatMap(formatRescan),
});

const OUTCOME_TEXTS: Readonly<Record<RescanOutput["outcome"], string>> = {
  read: "read again",
  unknown: "transaction not found",
  reverted: "the transaction reverted and moved nothing",
  ahead: "the block is not scanned yet; the watcher reads it later",
  unwatched: "never scanned: check its providers with `tributary doctor`",
};

function formatRescan({ chainName, outcome, recorded }: RescanOutput): string[] {
  const found = outcome === "read" ? `, ${recorded.length === 0 ? "nothing new" : `${recorded.length} new`}` : "";
  const movements = recorded.map(
    ({ direction, amountUnits, token, intentId, txHash }) =>
      `  ${direction === "in" ? "into" : "out of"} ${intentId}: ${amountUnits} units of ${token}, ${txHash}`,
  );
  return [`${chainName}: ${OUTCOME_TEXTS[outcome]}${found}`, ...movements];
}
