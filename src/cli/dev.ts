import type { Config } from "../config.ts";
import { CommandFailed, UsageRefused, type Command, type CommandInput } from "./command.ts";
import type { Ready } from "./dev/ready.ts";
import type { DevWorld } from "./dev/start.ts";
import { drain, endOnUncaught, untilEnd } from "./run.ts";
import { toJson, type Terminal } from "./terminal.ts";

const LOG_LEVELS: readonly Config["logLevel"][] = ["silent", "error", "warn", "info", "debug"];

export const dev: Command = {
  name: "dev",
  summary: "Start a whole local world: two chains with tokens, two merchants, API, checkout and explorer",
  positionals: [],
  options: {
    keep: { value: "DIR", summary: "keep chains and database in DIR from run to run; nothing is kept otherwise" },
    "log-level": { value: "LEVEL", summary: `${LOG_LEVELS.join(", ")}; warn when left out` },
  },
  elsewhere: {
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

async function runDev({ text, asJson, terminal, environment }: CommandInput): Promise<number> {
  const wanted = text["log-level"] ?? environment["TRIBUTARY_LOG_LEVEL"] ?? "warn";
  const logLevel = LOG_LEVELS.find((level) => level === wanted);
  if (logLevel === undefined)
    throw new UsageRefused(`${JSON.stringify(wanted)} is no log level: give one of ${LOG_LEVELS.join(", ")}.`);
  const asked = new AbortController();
  const ended = untilEnd(asked.signal);
  // Loaded only now: neither help nor a typo needs it.
  const { startDev } = await import("./dev/start.ts");
  const world = await startDev({ terminal, environment, keep: text["keep"], logLevel });
  endOnUncaught(world.log);
  if (world.busyPort !== undefined) {
    terminal.note(`Port ${world.busyPort} is taken, so this world listens at ${world.ready.baseUrl}.`);
  }
  if (asJson) terminal.out(toJson(world.ready));
  else for (const line of banner(world.ready, terminal)) terminal.out(line);
  const isBroken = await Promise.race([ended.then(() => false), world.broken.then(() => true)]);
  return end(world, { isBroken, terminal });
}

async function end(
  world: DevWorld,
  { isBroken, terminal }: { isBroken: boolean; terminal: Terminal },
): Promise<number> {
  if (!isBroken) terminal.note("\nending …");
  const drained = await drain(() => world.stop());
  if (isBroken) throw new CommandFailed("A local chain has ended by itself, and without it this world cannot go on.");
  if (!drained) throw new CommandFailed("Something did not end in time and was cut off.");
  return 0;
}

function banner(ready: Ready, terminal: Terminal): string[] {
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
