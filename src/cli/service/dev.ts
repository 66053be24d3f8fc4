import type { Config } from "../../config/config.ts";
import type { Command, CommandInput } from "../command.ts";
import { CommandError, UsageError } from "../../operator/errors.ts";
import type { DevManifest } from "../../dev/devManifest.ts";
import type { DevWorld } from "../../dev/startDev.ts";
import { drain, exitOnUncaught, waitForShutdown } from "../../operator/process/shutdown.ts";
import { toJson, type Terminal } from "../../operator/process/terminal.ts";

const LOG_LEVELS: readonly Config["logLevel"][] = ["silent", "error", "warn", "info", "debug"];

export const dev: Command = {
  name: "dev",
  summary: "Start a whole local world: two chains with tokens, two merchants, API, checkout and explorer",
  positionals: [],
  options: {
    keep: { value: "DIR", summary: "keep chains and database in DIR from run to run; nothing is kept otherwise" },
    "log-level": { value: "LEVEL", summary: `${LOG_LEVELS.join(", ")}; warn when left out` },
  },
  optionHints: {
    port: (typed) =>
      `The port comes from the environment: PORT=${/^\d{1,5}$/.test(typed) ? typed : "9000"} tributary dev.`,
  },
  examples: [
    "tributary dev",
    "tributary dev --json | head -1 | jq -r '.accounts[0].apiKey'",
    "PORT=9000 tributary dev --keep .tributary/dev",
  ],
  run: runDev,
};

async function runDev({ values, asJson, terminal, environment }: CommandInput): Promise<number> {
  const requestedLevel = values["log-level"] ?? environment["TRIBUTARY_LOG_LEVEL"] ?? "warn";
  const logLevel = LOG_LEVELS.find((level) => level === requestedLevel);
  if (logLevel === undefined)
    throw new UsageError(`${JSON.stringify(requestedLevel)} is no log level: give one of ${LOG_LEVELS.join(", ")}.`);
  const abortController = new AbortController();
  const shutdownSignal = waitForShutdown(abortController.signal);
  // Loaded only now: neither help nor a typo needs it.
  const { startDev } = await import("../../dev/startDev.ts");
  const world = await startDev({ terminal, environment, keep: values["keep"], logLevel });
  exitOnUncaught(world.log);
  if (world.occupiedPort !== undefined) {
    terminal.note(`Port ${world.occupiedPort} is taken, so this world listens at ${world.manifest.baseUrl}.`);
  }
  if (asJson) terminal.out(toJson(world.manifest));
  else for (const line of banner(world.manifest, terminal)) terminal.out(line);
  const isBroken = await Promise.race([shutdownSignal.then(() => false), world.chainStopped.then(() => true)]);
  return stopWorld(world, { isBroken, terminal });
}

async function stopWorld(
  world: DevWorld,
  { isBroken, terminal }: { isBroken: boolean; terminal: Terminal },
): Promise<number> {
  if (!isBroken) terminal.note("\nending …");
  const drained = await drain(() => world.stop());
  if (isBroken) throw new CommandError("A local chain has ended by itself, and without it this world cannot go on.");
  if (!drained) throw new CommandError("Something did not end in time and was cut off.");
  return 0;
}

function banner(ready: DevManifest, terminal: Terminal): string[] {
  const { baseUrl, docsUrl, accounts, chains } = ready;
  const title = (text: string) => terminal.paint("bold", text);
  const dim = (text: string) => terminal.paint("dim", text);
  const apiKey = accounts[0]?.apiKey ?? "";
  return [
    "",
    `${title("Tributary")} is ready at ${terminal.paint("cyan", baseUrl)}`,
    `Documentation is at ${terminal.paint("cyan", docsUrl)}`,
    "",
    title("Chains"),
    ...chains.map(({ name, chainId, rpcUrl, tokens }) => {
      const symbols = tokens.map(({ symbol, decimals }) => `${symbol} (${decimals})`).join(", ");
      return `  ${name}  ${dim(`id ${chainId}  ${rpcUrl}`)}  ${symbols}  ${dim(`${baseUrl}/dev/explorer/${chainId}`)}`;
    }),
    "",
    title("Merchants"),
    ...accounts.flatMap(({ name, apiKey: key, payoutWallet }) => [
      `  ${name}  ${dim(`is paid at ${payoutWallet}`)}`,
      `    ${key}`,
    ]),
    "",
    title("Try next"),
    dim("  # create an intent of 25 USDC"),
    `  curl -s ${baseUrl}/api/v1/intents \\`,
    `    -H 'Authorization: Bearer ${apiKey}' \\`,
    "    -H 'Service-Version: 2026-11-01' -H 'Content-Type: application/json' \\",
    `    -d '{"priceUnits":25000000,"oneTime":true}'`,
    dim("  # pay it, from another terminal, with the intentId of the answer"),
    "  npx tributary pay pi_…",
    dim("  # or open its checkoutUrl with # and its widgetToken behind it in a browser"),
    `  ${baseUrl}/c/pi_…#wt_…`,
    dim("  # the whole story in one go, with every number checked"),
    "  npx tributary demo",
    "",
    dim("Ctrl-C ends it."),
  ];
}
