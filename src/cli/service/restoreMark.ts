import { operatorCommand } from "../operatorCommand.ts";

export const restoreMark = operatorCommand({
  operation: "restore mark",
  summary: "tell the service that its database was restored",
  help: "Tell the service that its database was restored from a backup of the same server",
  examples: ["tributary restore mark --config my.json"],
  print: () => ["Marked. The next event of each account stands 1,000,000 sequences after its last one."],
});
