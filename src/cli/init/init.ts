import { existsSync, writeFileSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { readConfig } from "../../config/loadConfig.ts";
import { stripComments } from "../../kernel/text/stripComments.ts";
import { CommandError } from "../../operator/errors.ts";
import { toJson } from "../../operator/process/terminal.ts";
import type { Command, CommandInput } from "../command.ts";
import { readSettings } from "./askOperator.ts";
import { renderConfig } from "./renderConfig.ts";
import { gasKeyVariable, listWatched, PROMPTS, type InitSettings } from "./settings.ts";

const FILE_DEFAULT = "tributary.json";
/** The file may hold the keys of providers. */
const OWNER_ONLY_MODE = 0o600;
/** Stand for keys of providers and the database that the operator sets later. */
const PLACEHOLDER_KEY = "key";
const PLACEHOLDER_DATABASE = "postgres://placeholder/placeholder";

export const init: Command = {
  name: "init",
  summary: "ask for the settings and write a configuration file",
  help: "Ask for the settings and write a commented configuration file; overwrite nothing",
  positionals: [{ name: "file", summary: `the file to write; default ${FILE_DEFAULT}`, isOptional: true }],
  options: {
    ...Object.fromEntries(PROMPTS.map(({ option, placeholder, summary }) => [option, { value: placeholder, summary }])),
    yes: { summary: "ask nothing: every setting without an option has its default" },
  },
  examples: [
    "tributary init",
    "tributary init testnets.json --yes --chains base-sepolia,sepolia",
    "tributary init live.json --environment live --chains base,arbitrum,solana --usd ETH=3000",
  ],
  run: runInit,
};

async function runInit(input: CommandInput): Promise<number> {
  const { positionals, terminal, asJson } = input;
  const file = positionals[0] ?? FILE_DEFAULT;
  if (existsSync(file)) throw fileExists(file);
  const settings = await readSettings(input);
  const content = renderConfig(settings);
  const gasVariables = listWatched(settings).map(gasKeyVariable);
  const urlVariables = [...new Set([...settings.rpcUrls.values()].flat().flatMap(variablesOf))];
  requireAccepted(content, { file, variables: urlVariables });
  try {
    // "wx" refuses a file that was created since the check.
    writeFileSync(file, content, { flag: "wx", mode: OWNER_ONLY_MODE });
  } catch (error) {
    throw error instanceof Error && "code" in error && error.code === "EEXIST" ? fileExists(file) : error;
  }
  const required = [
    ...(settings.database === undefined ? ["TRIBUTARY_DATABASE_URL"] : []),
    ...urlVariables,
    ...gasVariables,
  ];
  if (asJson) terminal.out(toJson({ file, requiredVariables: required }));
  else for (const line of nextSteps(file, settings, required)) terminal.out(line);
  return 0;
}

function fileExists(file: string): CommandError {
  return new CommandError(`${file} exists and stays as it is: name another file, or move it away.`);
}

/** Reads the content as `serve` does, with placeholders for what the operator sets later. Throws ConfigError. */
function requireAccepted(content: string, { file, variables }: { file: string; variables: readonly string[] }): void {
  const placeholders = Object.fromEntries(variables.map((name) => [name, PLACEHOLDER_KEY]));
  const value = JSON.parse(stripComments(content)) as Record<string, unknown>;
  const database = "database" in value ? {} : { TRIBUTARY_DATABASE_URL: PLACEHOLDER_DATABASE };
  readConfig(value, {
    variables: { ...placeholders, ...database },
    directory: dirname(resolve(file)),
    keys: "optional",
  });
}

/** The variables that a URL names. */
function variablesOf(url: string): string[] {
  return Array.from(url.matchAll(/\$\{([A-Z_][A-Z0-9_]*)\}/g), ([, name = ""]) => name);
}

function nextSteps(file: string, { chains, environment }: InitSettings, required: readonly string[]): string[] {
  const chain = chains.find(({ kind }) => kind === "evm")?.slug ?? chains[0]?.slug ?? "";
  return [
    `Wrote ${file}. Next:`,
    `  1. Set ${required.join(" and ")}. Each gas key is a new private key; send its account some coins of its chain.`,
    `  2. npx tributary hub deploy --config ${file}      # deploys the hub where it is missing`,
    `  3. npx tributary serve --config ${file} --check   # compares the file with database and chains`,
    `  4. npx tributary serve --config ${file}           # runs until SIGTERM`,
    `  5. npx tributary accounts create "Your shop" --chain ${chain} --wallet 0x…`,
    ...(environment === "live" ? ["Before real payments, read docs/operate/go-live.md."] : []),
  ];
}
