import type { Command, CommandInput } from "../command.ts";
import { resolveConfigFile } from "../operatorClient.ts";
import { toJson } from "../../operator/process/terminal.ts";

export const migrate: Command = {
  name: "migrate",
  summary: "bring the schema of the database up to date",
  help: "Bring the schema of the database up to date, and do nothing else",
  positionals: [],
  options: { config: { value: "FILE", summary: "configuration file; default TRIBUTARY_CONFIG" } },
  examples: ["tributary migrate --config my.json"],
  run: runMigrate,
};

async function runMigrate({ values, asJson, terminal, environment }: CommandInput): Promise<number> {
  const [{ loadConfig }, { migrateDatabase }, { openReadableLog }, { exitOnFatal }] = await Promise.all([
    import("../../config/loadConfig.ts"),
    import("../../main.ts"),
    import("../../operator/process/logs.ts"),
    import("../../operator/process/shutdown.ts"),
  ]);
  const config = loadConfig(resolveConfigFile({ values, environment }), environment, { keys: "optional" });
  const log = openReadableLog("warn", terminal);
  const migrations = await migrateDatabase(config, { log, onFatal: exitOnFatal(log) });
  if (asJson) terminal.out(toJson({ migrations }));
  else if (migrations.length === 0) terminal.out("The schema is up to date.");
  else terminal.out(`Applied: ${migrations.join(", ")}.`);
  return 0;
}
