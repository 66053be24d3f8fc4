import { openApi } from "./api.ts";
import { CommandFailed, UsageRefused, type Command, type CommandInput } from "./command.ts";
import { STORIES, type Told } from "./demo/stories.ts";
import type { Check, Stage } from "./demo/stage.ts";
import type { Ready } from "./dev/ready.ts";
import { findRunning } from "./door/knock.ts";
import { readThroughApi } from "./reading.ts";
import { toJson, type Terminal } from "./terminal.ts";
import { readNamedVariable, readTimeoutMs, readWebUrl } from "./typed.ts";

const TIMEOUT_S_DEFAULT = 120;

export const demo: Command = {
  name: "demo",
  summary: "Tell the whole story of payments, from create to payout, and check every number on the chain itself",
  positionals: [],
  options: {
    "base-url": {
      value: "URL",
      summary: "a service that is not the dev world; with a key, --rpc-url and --payer-key-env",
    },
    "api-key": { value: "KEY", summary: "API key of an account with a default destination" },
    "api-key-env": { value: "NAME", summary: "environment variable that holds it instead" },
    "rpc-url": { value: "URL", summary: "a node of the destination's chain" },
    "payer-key-env": {
      value: "NAME",
      summary: "environment variable with the key of a wallet that holds 82 tokens and gas",
    },
    timeout: { value: "SECONDS", summary: `how long one step may take; ${TIMEOUT_S_DEFAULT} when left out` },
  },
  examples: ["tributary demo", "tributary demo --json | jq .isRight"],
  run: runDemo,
};

type Script = { baseUrl: string; apiKey: string; rpcUrl: string; payerKey: string; stop(): Promise<void> };

async function runDemo(input: CommandInput): Promise<number> {
  const timeoutMs = readTimeoutMs(input.text, TIMEOUT_S_DEFAULT);
  const script = await findScript(input);
  try {
    const api = openApi(script);
    const { openPayer } = await import("./payer.ts");
    const payer = await openPayer({ rpcUrl: script.rpcUrl, privateKey: script.payerKey });
    const stage: Stage = {
      told: new Set(),
      api,
      payer,
      read: readThroughApi(api),
      terminal: input.terminal,
      timeoutMs,
    };
    return await tellAll(stage, input);
  } finally {
    await script.stop();
  }
}

async function tellAll(stage: Stage, { terminal, asJson }: CommandInput): Promise<number> {
  const told: (Told & { title: string })[] = [];
  for (const [index, story] of STORIES.entries()) {
    terminal.note(`\n${terminal.paint("bold", `${index + 1}. ${story.title}`)}`);
    const { intentId, checks } = await story.tell(stage);
    for (const one of checks) terminal.note(lineOf(one, terminal));
    told.push({ title: story.title, intentId, checks });
  }
  const wrong = told.flatMap(({ checks }) => checks).filter(({ isRight }) => !isRight);
  const count = told.flatMap(({ checks }) => checks).length;
  if (asJson) terminal.out(toJson({ isRight: wrong.length === 0, stories: told }));
  else if (wrong.length === 0) terminal.out(`\n${terminal.paint("green", `All ${count} numbers add up.`)}`);
  else terminal.out(`\n${terminal.paint("red", `${wrong.length} of ${count} numbers do not add up.`)}`);
  return wrong.length === 0 ? 0 : 1;
}

function lineOf({ what, expected, found, isRight }: Check, terminal: Terminal): string {
  if (isRight) return `   ${terminal.paint("green", "✓")} ${what} ${found}`;
  return `   ${terminal.paint("red", "✗")} ${what} ${found}, and it should be ${expected}`;
}

/** What is named in the options, else the dev world that runs, else one that is started for the demo alone. */
async function findScript(input: CommandInput): Promise<Script> {
  const { text, environment, terminal } = input;
  const named = ["base-url", "api-key", "api-key-env", "rpc-url", "payer-key-env"].filter(
    (name) => text[name] !== undefined,
  );
  if (named.length > 0) return namedScript(input);
  const running = await findRunning(environment);
  if (running?.ready !== undefined && running.ready !== null) return scriptOf(running.ready as Ready, async () => {});
  terminal.note("No dev world runs, so one is started for this demo alone.");
  const { startDev } = await import("./dev/start.ts");
  const world = await startDev({ terminal, environment, keep: undefined, logLevel: "error" });
  return scriptOf(world.ready, () => world.stop());
}

function namedScript(input: CommandInput): Script {
  const [baseUrl, rpcUrl] = [readWebUrl(input.text, "base-url"), readWebUrl(input.text, "rpc-url")];
  const apiKey = input.text["api-key"] ?? readNamedVariable(input, "api-key-env");
  const payerKey = readNamedVariable(input, "payer-key-env");
  if (baseUrl === undefined || rpcUrl === undefined || apiKey === undefined || payerKey === undefined) {
    throw new UsageRefused(
      "Beside the dev world all of --base-url, --api-key (or --api-key-env), --rpc-url and --payer-key-env are needed.",
    );
  }
  return { baseUrl: baseUrl.replace(/\/+$/, ""), rpcUrl, apiKey, payerKey, stop: async () => {} };
}

function scriptOf({ baseUrl, accounts, chains, payer }: Ready, stop: () => Promise<void>): Script {
  const [account] = accounts;
  const [chain] = chains;
  if (account === undefined || chain === undefined)
    throw new CommandFailed("The dev world has no account or no chain.");
  return { baseUrl, apiKey: account.apiKey, rpcUrl: chain.rpcUrl, payerKey: payer.privateKey, stop };
}
