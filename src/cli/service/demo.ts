import { namespaceOf } from "../../kernel/caip.ts";
import { createApiClient } from "../../operator/client/apiClient.ts";
import type { Command, CommandInput } from "../command.ts";
import { CommandError, UsageError } from "../../operator/errors.ts";
import { SCENARIOS, type ScenarioResult } from "../../dev/demo/scenarios.ts";
import type { Check, DemoContext } from "../../dev/demo/context.ts";
import { isDevManifest, type DevManifest } from "../../dev/manifest.ts";
import { listRunningProcesses } from "../../operator/control/callControl.ts";
import { readViaApi } from "../../operator/client/intentSnapshot.ts";
import { toJson, type Terminal } from "../../operator/process/terminal.ts";
import { readEnvVariable, readTimeoutMs, readWebUrl } from "../optionParsers.ts";

const TIMEOUT_S_DEFAULT = 120;

export const demo: Command = {
  name: "demo",
  summary: "run sample payments and check every amount on the chain",
  help: "Run sample payments from create to payout, and check every amount on the chain",
  positionals: [],
  options: {
    "base-url": {
      value: "URL",
      summary: "service to test; also needs an API key, --rpc-url and --payer-key-env; default the dev world",
    },
    "api-key": { value: "KEY", summary: "API key of an account with a default destination" },
    "api-key-env": { value: "NAME", summary: "environment variable with that API key" },
    "rpc-url": { value: "URL", summary: "node of the destination's chain" },
    "payer-key-env": {
      value: "NAME",
      summary: "environment variable with the private key of a wallet with 82 tokens and gas",
    },
    timeout: { value: "SECONDS", summary: `time limit of one step; default ${TIMEOUT_S_DEFAULT}` },
  },
  examples: ["tributary demo", "tributary demo --json | jq .ok"],
  run: runDemo,
};

type DemoTarget = {
  baseUrl: string;
  apiKey: string;
  rpcUrl: string;
  payerKey: string;
  /** Another chain, from where a bridge carries this token. */
  away?: { rpcUrl: string; token: string; chainName: string };
  solana?: { rpcUrl: string; payerKey: string; payoutWallet: string };
  stop(): Promise<void>;
};

async function runDemo(input: CommandInput): Promise<number> {
  const timeoutMs = readTimeoutMs(input.values, TIMEOUT_S_DEFAULT);
  const target = await resolveTarget(input);
  try {
    const api = createApiClient(target);
    const context: DemoContext = {
      reportedSettlements: new Set(),
      api,
      ...(await openPayers(target)),
      read: readViaApi(api),
      terminal: input.terminal,
      timeoutMs,
    };
    return await runScenarios(context, input);
  } finally {
    await target.stop();
  }
}

async function openPayers(target: DemoTarget): Promise<Pick<DemoContext, "payer" | "away" | "solana">> {
  const { away, solana } = target;
  const { createPayer } = await import("../../operator/client/payer.ts");
  const payer = await createPayer({ rpcUrl: target.rpcUrl, privateKey: target.payerKey });
  if (away === undefined || solana === undefined) return { payer };
  const { createSolanaPayer } = await import("../../operator/client/solanaPayer.ts");
  const [awayPayer, solanaPayer] = await Promise.all([
    createPayer({ rpcUrl: away.rpcUrl, privateKey: target.payerKey }),
    createSolanaPayer({ rpcUrl: solana.rpcUrl, privateKey: solana.payerKey }),
  ]);
  return {
    payer,
    away: { ...away, payer: awayPayer },
    solana: { payer: solanaPayer, payoutWallet: solana.payoutWallet },
  };
}

async function runScenarios(context: DemoContext, { terminal, asJson }: CommandInput): Promise<number> {
  const results: (ScenarioResult & { title: string })[] = [];
  const scenarios = SCENARIOS.filter(({ needs }) => needs === undefined || context[needs] !== undefined);
  for (const [index, scenario] of scenarios.entries()) {
    terminal.note(`\n${terminal.paint("bold", `${index + 1}. ${scenario.title}`)}`);
    const { intentId, checks } = await scenario.run(context);
    for (const check of checks) terminal.note(formatCheck(check, terminal));
    results.push({ title: scenario.title, intentId, checks });
  }
  const failed = results.flatMap(({ checks }) => checks).filter(({ ok }) => !ok);
  const count = results.flatMap(({ checks }) => checks).length;
  if (asJson) terminal.out(toJson({ ok: failed.length === 0, stories: results }));
  else if (failed.length === 0) terminal.out(`\n${terminal.paint("green", `All ${count} checks passed.`)}`);
  else terminal.out(`\n${terminal.paint("red", `${failed.length} of ${count} checks failed.`)}`);
  return failed.length === 0 ? 0 : 1;
}

function formatCheck({ what, expected, found, ok }: Check, terminal: Terminal): string {
  if (ok) return `   ${terminal.paint("green", "✓")} ${what} ${found}`;
  return `   ${terminal.paint("red", "✗")} ${what} ${found}, expected ${expected}`;
}

/** The service that the options name, else the running dev world, else a new dev world for this run. */
async function resolveTarget(input: CommandInput): Promise<DemoTarget> {
  const { values, environment, terminal } = input;
  const named = ["base-url", "api-key", "api-key-env", "rpc-url", "payer-key-env"].filter(
    (name) => values[name] !== undefined,
  );
  if (named.length > 0) return readTarget(input);
  const running = (await listRunningProcesses(environment)).find(({ ready }) => isDevManifest(ready));
  if (isDevManifest(running?.ready)) return toDemoTarget(running.ready, async () => {});
  terminal.note("No dev world is running. Starting one for this demo.");
  const { startDev } = await import("../../dev/startDev.ts");
  const world = await startDev({ terminal, environment, keep: undefined, logLevel: "error" });
  return toDemoTarget(world.manifest, () => world.stop());
}

function readTarget(input: CommandInput): DemoTarget {
  const [baseUrl, rpcUrl] = [readWebUrl(input.values, "base-url"), readWebUrl(input.values, "rpc-url")];
  const apiKey = input.values["api-key"] ?? readEnvVariable(input, "api-key-env");
  const payerKey = readEnvVariable(input, "payer-key-env");
  if (baseUrl === undefined || rpcUrl === undefined || apiKey === undefined || payerKey === undefined) {
    throw new UsageError(
      "Without the dev world, all of --base-url, --api-key (or --api-key-env), --rpc-url and --payer-key-env are needed.",
    );
  }
  return { baseUrl: baseUrl.replace(/\/+$/, ""), rpcUrl, apiKey, payerKey, stop: async () => {} };
}

function toDemoTarget(manifest: DevManifest, stop: () => Promise<void>): DemoTarget {
  const { baseUrl, accounts, chains, payer, solana } = manifest;
  const [account] = accounts;
  const [chain, other] = chains;
  const cluster = chains.find(({ caip2 }) => namespaceOf(caip2) === "solana");
  // The local bridge carries the first token of each EVM chain.
  const token = other?.tokens[0]?.address;
  if (account === undefined || chain === undefined || other === undefined || cluster === undefined)
    throw new CommandError("The dev world has no account or too few chains.");
  if (token === undefined) throw new CommandError(`${other.name} has no token.`);
  return {
    baseUrl,
    apiKey: account.apiKey,
    rpcUrl: chain.rpcUrl,
    payerKey: payer.privateKey,
    away: { rpcUrl: other.rpcUrl, token, chainName: other.name },
    solana: {
      rpcUrl: cluster.rpcUrl,
      payerKey: solana.payer.privateKey,
      payoutWallet: solana.payoutWallet,
    },
    stop,
  };
}
