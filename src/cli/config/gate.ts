import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import type { ChainConfig, Environment, GateConfig } from "../../config.ts";
import { Secret } from "../../kernel/secret.ts";
import * as rules from "./rules.ts";
import { ConfigRefused, isGiven, openSection, place, read, sourceShown, type Rule, type Section } from "./section.ts";

const GATE_KEYS = ["url", "secretEnv", "secretFile", "timeoutMs"] as const;
/** A caller of ours waits for it, and twice for a customer that is bound on the way. */
const TIMEOUT_MS_DEFAULT = 3_000;
const TIMEOUT_MS_MAX = 5_000;

const secret: Rule<string> = {
  expected: "a secret of 32 to 500 visible characters",
  parse: (value) => (typeof value === "string" && /^[!-~]{32,500}$/.test(value) ? value : undefined),
};

type GateSurroundings = {
  environment: "test" | "live";
  variables: Environment;
  directory: string;
  chains: readonly ChainConfig[];
};

/** The remote gate, where there is one. A chain that leaves its inboxes to it needs one. */
export function readGate(section: Section, around: GateSurroundings): GateConfig | undefined {
  if (!isGiven(section, "gate")) {
    const waiting = around.chains.find((chain) => chain.gate === "remote");
    if (waiting === undefined) return undefined;
    throw new ConfigRefused(
      `gate: it is missing and ${waiting.name} leaves its inboxes to it, give {"url": "https://…", "secretEnv": "…"} or make that chain's gate "local".`,
    );
  }
  const gate = openSection(section.fields["gate"], { path: "gate", known: GATE_KEYS });
  return {
    url: readUrl(gate, around.environment),
    secret: readSecret(gate, around),
    timeoutMs: read(gate, "timeoutMs", {
      ...rules.wholeNumber(100, TIMEOUT_MS_MAX),
      fallback: TIMEOUT_MS_DEFAULT,
    }),
  };
}

function readUrl(gate: Section, environment: "test" | "live"): string {
  const url = read(gate, "url", rules.baseUrl);
  const { protocol, hostname } = new URL(url);
  const isNear = ["127.0.0.1", "localhost", "[::1]"].includes(hostname);
  if (environment === "test" || protocol === "https:" || isNear) return url;
  throw new ConfigRefused(
    `${place(gate, "url")}: the secret would travel in the clear, give a URL that begins with https:// or one on this machine.`,
  );
}

/** No sentence quotes it. */
function readSecret(gate: Section, { variables, directory }: GateSurroundings): Secret {
  const fromVariable = isGiven(gate, "secretEnv");
  if (fromVariable === isGiven(gate, "secretFile")) {
    throw new ConfigRefused(
      `${place(gate, "secretEnv")}: name either an environment variable here or a file in secretFile that holds the secret which the gate knows us by.`,
    );
  }
  const [text, source] = fromVariable ? fromEnvironment(gate, variables) : fromFile(gate, directory);
  const parsed = secret.parse(text?.trim());
  if (parsed === undefined) throw new ConfigRefused(`${source} does not hold ${secret.expected}.`);
  return new Secret(parsed);
}

function fromEnvironment(gate: Section, variables: Environment): [text: string | undefined, source: string] {
  const name = read(gate, "secretEnv", rules.environmentVariable);
  return [variables[name], `${place(gate, "secretEnv")}: the environment variable ${sourceShown(name)}`];
}

function fromFile(gate: Section, directory: string): [text: string | undefined, source: string] {
  const file = resolve(directory, read(gate, "secretFile", rules.path));
  const source = `${place(gate, "secretFile")}: the file ${sourceShown(file)}`;
  try {
    return [readFileSync(file, "utf8"), source];
  } catch {
    throw new ConfigRefused(`${source} cannot be read, put ${secret.expected} there.`);
  }
}
