import type { LongTransaction, UpgradedTable } from "../../db/upgrade/describeUpgrade.ts";
import { UsageError } from "../../operator/errors.ts";
import { formatTable, toJson, type Terminal } from "../../operator/process/terminal.ts";
import type { Command, CommandInput } from "../command.ts";
import { resolveConfigFile } from "../operatorClient.ts";

const MB = 1_048_576;

export const upgrade: Command = {
  name: "upgrade",
  summary: "say what this version will change in the database",
  help: "Say what the first start of this version will change in the database, and what would hold it up",
  positionals: [],
  options: {
    config: { value: "FILE", summary: "configuration file; default TRIBUTARY_CONFIG" },
    check: { summary: "only look, change nothing; required" },
  },
  examples: ["tributary upgrade --check --config my.json"],
  run: runUpgrade,
};

async function runUpgrade({ values, flags, asJson, terminal, environment }: CommandInput): Promise<number> {
  if (!flags.has("check"))
    throw new UsageError("Give --check. The upgrade itself is the start of this version, or `tributary migrate`.");
  const [{ loadConfig }, { closeWorld, openWorld }, { describeUpgrade }, { listProcesses }, { openReadableLog }] =
    await Promise.all([
      import("../../config/loadConfig.ts"),
      import("../../main.ts"),
      import("../../db/upgrade/describeUpgrade.ts"),
      import("../../health/processStore.ts"),
      import("../../operator/process/logs.ts"),
    ]);
  const { exitOnFatal } = await import("../../operator/process/shutdown.ts");
  const { productVersion } = await import("../../config/operate/productVersion.ts");
  const config = loadConfig(resolveConfigFile({ values, environment }), environment, { keys: "optional" });
  const log = openReadableLog("warn", terminal);
  const world = await openWorld(config, { log, onFatal: exitOnFatal(log), schema: "keep" });
  try {
    const { migrations, tables, longTransactions } = await describeUpgrade(world.db, world.clock.now());
    const isNew = migrations.includes("0116_health");
    const processes = isNew ? [] : await listProcesses(world.db, world.clock.now());
    const versions = [...new Set(processes.map(({ version }) => version))].toSorted();
    const ok = longTransactions.length === 0;
    const report = { ok, version: productVersion(), running: versions, migrations, tables, longTransactions };
    for (const line of asJson ? [toJson(report)] : printReport(report, terminal)) terminal.out(line);
    return ok ? 0 : 1;
  } finally {
    await closeWorld(world);
  }
}

type Report = {
  version: string;
  running: readonly string[];
  migrations: readonly string[];
  tables: readonly UpgradedTable[];
  longTransactions: readonly LongTransaction[];
};

function printReport({ version, running, migrations, tables, longTransactions }: Report, terminal: Terminal): string[] {
  const processes = running.length === 0 ? "no process runs" : `processes of ${running.join(", ")} run`;
  const here = `This is version ${version}; ${processes}.`;
  if (migrations.length === 0) return [here, "The schema is up to date: nothing will change."];
  const sizes = tables.map(({ name, rows, bytes }) => [
    name,
    Math.round(rows).toString(),
    `${Math.ceil(bytes / MB)} MB`,
  ]);
  return [
    here,
    `The first start applies, each in a transaction of its own: ${migrations.join(", ")}.`,
    ...(sizes.length === 0 ? [] : ["", ...formatTable(terminal, ["table", "about rows", "size"], sizes)]),
    ...longTransactions.map(
      ({ seconds, role, application, query }) =>
        `A transaction of ${role} (${application || "unnamed"}) is open for ${Math.round(seconds)} s, and a migration would wait for it: ${query}`,
    ),
    ...(longTransactions.length === 0
      ? []
      : ["End it first. A migration gives up after 5 s, and every statement on its table waits until then."]),
  ];
}
