import type { Config } from "../../config/config.ts";
import type { Command, CommandInput } from "../command.ts";
import { namespaceOf, referenceOf } from "../../kernel/caip.ts";
import { CommandError, UsageError } from "../../operator/errors.ts";
import type { DevWorld } from "../../dev/startDev.ts";
import { drain, exitOnUncaught, waitForShutdown } from "../../operator/process/shutdown.ts";
import { toJson, type Terminal } from "../../operator/process/terminal.ts";

const LOG_LEVELS: readonly Config["logLevel"][] = ["silent", "error", "warn", "info", "debug"];

export const dev: Command = {
  name: "dev",
  summary: "start a local world: chains, tokens, merchants, API",
  help: "Start a local world: two EVM chains and Solana with tokens, two merchants, API, checkout and explorer",
  positionals: [],
  options: {
    keep: { value: "DIR", summary: "store chains and database in DIR for the next run; default nothing is stored" },
    "like-public": {
      summary: "EVM chains with five blocks a second, and nodes that prune, refuse receipts and have foreign blooms",
    },
    "log-level": { value: "LEVEL", summary: `${LOG_LEVELS.join(", ")}; default warn` },
  },
  optionHints: {
    port: (typed) => `Set the port in the environment: PORT=${/^\d{1,5}$/.test(typed) ? typed : "9000"} tributary dev.`,
  },
  examples: [
    "tributary dev",
    "tributary dev --json | head -1 | jq -r '.accounts[0].apiKey'",
    "PORT=9000 tributary dev --keep .tributary/dev",
  ],
  run: runDev,
};

async function runDev({ values, flags, asJson, terminal, environment }: CommandInput): Promise<number> {
  const requestedLevel = values["log-level"] ?? environment["TRIBUTARY_LOG_LEVEL"] ?? "warn";
  const logLevel = LOG_LEVELS.find((level) => level === requestedLevel);
  if (logLevel === undefined)
    throw new UsageError(`--log-level must be one of ${LOG_LEVELS.join(", ")}, not ${JSON.stringify(requestedLevel)}.`);
  const abortController = new AbortController();
  const shutdownSignal = waitForShutdown({ signal: abortController.signal });
  // This loads on demand, so that help and usage errors stay fast.
  const { startDev } = await import("../../dev/startDev.ts");
  const world = await startDev({
    terminal,
    environment,
    keep: values["keep"],
    logLevel,
    isLikePublic: flags.has("like-public"),
  });
  exitOnUncaught(world.log);
  if (world.occupiedPort !== undefined) {
    terminal.note(`Port ${world.occupiedPort} is in use, so the dev world listens at ${world.manifest.baseUrl}.`);
  }
  if (asJson) terminal.out(toJson(world.manifest));
  else for (const line of banner(world, terminal)) terminal.out(line);
  const hasChainStopped = await Promise.race([shutdownSignal.then(() => false), world.chainStopped.then(() => true)]);
  return stopWorld(world, { hasChainStopped, terminal });
}

async function stopWorld(
  world: DevWorld,
  { hasChainStopped, terminal }: { hasChainStopped: boolean; terminal: Terminal },
): Promise<number> {
  if (!hasChainStopped) terminal.note("\nstopping …");
  const drained = await drain(() => world.stop());
  if (hasChainStopped) throw new CommandError("A local chain stopped unexpectedly, so the dev world was stopped.");
  if (!drained) throw new CommandError("The dev world did not stop in time and was killed.");
  return 0;
}

function banner({ manifest, opsLink, dashboardLink }: DevWorld, terminal: Terminal): string[] {
  const { baseUrl, docsUrl, accounts, chains, solana } = manifest;
  const cluster = chains.find(({ caip2 }) => namespaceOf(caip2) === "solana");
  const title = (text: string) => terminal.paint("bold", text);
  const dim = (text: string) => terminal.paint("dim", text);
  const apiKey = accounts[0]?.apiKey ?? "";
  return [
    "",
    `${title("Tributary")} is ready at ${terminal.paint("cyan", baseUrl)}`,
    `A demo shop is at ${terminal.paint("cyan", `${baseUrl}/demo`)}: press Buy, and the wallet in the page pays`,
    `The dashboard of ${accounts[0]?.name ?? ""} opens once at ${terminal.paint("cyan", dashboardLink)}`,
    dim(`  another link: npx tributary members link ${accounts[0]?.accountId ?? ""}`),
    `The operator's page opens once at ${terminal.paint("cyan", opsLink)}`,
    dim("  another link: npx tributary ops link"),
    `Documentation is at ${terminal.paint("cyan", docsUrl)}`,
    "",
    title("Chains"),
    ...chains.map(({ name, caip2, chainId, rpcUrl, tokens }) => {
      const symbols = tokens.map(({ symbol, decimals }) => `${symbol} (${decimals})`).join(", ");
      return `  ${name}  ${dim(`${namespaceOf(caip2) === "solana" ? caip2 : `id ${chainId}`}  ${rpcUrl}`)}  ${symbols}  ${dim(`${baseUrl}/dev/explorer/${chainId}`)}`;
    }),
    "",
    title("Merchants"),
    ...accounts.flatMap(({ name, apiKey: key, payoutWallet }) => [
      `  ${name}  ${dim(`payout wallet ${payoutWallet}`)}`,
      `    ${key}`,
    ]),
    "",
    title("Try next"),
    `  export TRIBUTARY_API_KEY=${apiKey}`,
    dim("  # create an intent of 25 USDC"),
    `  curl -s ${baseUrl}/api/v1/intents \\`,
    `    -H "Authorization: Bearer $TRIBUTARY_API_KEY" \\`,
    "    -H 'Service-Version: 2026-11-01' -H 'Content-Type: application/json' \\",
    `    -d '{"priceUnits":25000000,"oneTime":true}'`,
    ...(cluster === undefined
      ? []
      : [
          dim("  # one that is paid out on Solana has in its body"),
          `    "payoutNamespace":"solana","payoutChainReference":"${referenceOf(cluster.caip2)}","payoutWallet":"${solana.payoutWallet}"`,
        ]),
    dim("  # pay it from another terminal, with the intentId of the response"),
    "  npx tributary pay pi_…",
    dim("  # or open its checkoutUrl, followed by # and its widgetToken, in a browser"),
    `  ${baseUrl}/c/pi_…#wt_…`,
    dim("  # or run all sample payments and check every amount"),
    "  npx tributary demo",
    "",
    dim("Press Ctrl-C to stop."),
  ];
}
