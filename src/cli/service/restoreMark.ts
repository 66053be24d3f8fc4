import type { Command, CommandInput } from "../command.ts";
import { callOnce, CONFIG_OPTION } from "../operatorClient.ts";
import { toJson } from "../../operator/process/terminal.ts";

export const restoreMark: Command = {
  name: "restore mark",
  summary: "Tell the service that its database was restored from a backup of the same server",
  positionals: [],
  options: { ...CONFIG_OPTION },
  examples: ["tributary restore mark --config my.json"],
  run: runRestoreMark,
};

async function runRestoreMark(input: CommandInput): Promise<number> {
  const { terminal, asJson } = input;
  const mark = await callOnce(input, "restore mark", {});
  if (asJson) terminal.out(toJson(mark));
  else terminal.out("Marked. The next event of each account stands 1,000,000 sequences after its last one.");
  return 0;
}
