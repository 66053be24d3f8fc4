import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import type { ChainConfig, ProcessEnvironment, GateConfig } from "./config.ts";
import { Secret } from "../kernel/secret.ts";
import * as rules from "./rules.ts";
import {
  ConfigError,
  hasField,
  readSection,
  fieldPath,
  readField,
  quoteSource,
  type FieldRule,
  type ConfigSection,
} from "./section.ts";

const GATE_KEYS = ["url", "secretEnv", "secretFile", "timeoutMs"] as const;
/** An API call waits for the gate once, or twice when it also binds the customer. */
const TIMEOUT_MS_DEFAULT = 3_000;
const TIMEOUT_MS_MAX = 5_000;

const secretRule: FieldRule<string> = {
  expected: "a secret of 32 to 500 visible characters",
  parse: (value) => (typeof value === "string" && /^[!-~]{32,500}$/.test(value) ? value : undefined),
};

type GateContext = {
  environment: "test" | "live";
  variables: ProcessEnvironment;
  directory: string;
  chains: readonly ChainConfig[];
};

/** Reads the remote gate. Returns undefined when none is configured. A chain with `gate: "remote"` requires one. */
export function readGate(section: ConfigSection, context: GateContext): GateConfig | undefined {
  if (!hasField(section, "gate")) {
    const remoteChain = context.chains.find((chain) => chain.gate === "remote");
    if (remoteChain === undefined) return undefined;
    throw new ConfigError(
      `gate: missing, but ${remoteChain.name} has "gate": "remote"; give {"url": "https://…", "secretEnv": "…"} or set that chain's gate to "local".`,
    );
  }
  const gate = readSection(section.fields["gate"], { path: "gate", known: GATE_KEYS });
  return {
    url: readUrl(gate, context.environment),
    secret: readSecret(gate, context),
    timeoutMs: readField(gate, "timeoutMs", {
      ...rules.wholeNumber(100, TIMEOUT_MS_MAX),
      fallback: TIMEOUT_MS_DEFAULT,
    }),
  };
}

function readUrl(gate: ConfigSection, environment: "test" | "live"): string {
  const url = readField(gate, "url", rules.baseUrl);
  const { protocol, hostname } = new URL(url);
  const isLoopback = ["127.0.0.1", "localhost", "[::1]"].includes(hostname);
  if (environment === "test" || protocol === "https:" || isLoopback) return url;
  throw new ConfigError(
    `${fieldPath(gate, "url")}: the secret would be sent unencrypted; give a URL that begins with https://, or a loopback address.`,
  );
}

/** Reads the shared secret. Errors never quote it. */
function readSecret(gate: ConfigSection, { variables, directory }: GateContext): Secret {
  const fromVariable = hasField(gate, "secretEnv");
  if (fromVariable === hasField(gate, "secretFile")) {
    throw new ConfigError(
      `${fieldPath(gate, "secretEnv")}: name either an environment variable here or a file in secretFile; it holds the secret shared with the gate.`,
    );
  }
  const [text, source] = fromVariable
    ? readSecretFromEnvironment(gate, variables)
    : readSecretFromFile(gate, directory);
  const parsed = secretRule.parse(text?.trim());
  if (parsed === undefined) throw new ConfigError(`${source} does not hold ${secretRule.expected}.`);
  return new Secret(parsed);
}

function readSecretFromEnvironment(
  gate: ConfigSection,
  variables: ProcessEnvironment,
): [text: string | undefined, source: string] {
  const name = readField(gate, "secretEnv", rules.environmentVariable);
  return [variables[name], `${fieldPath(gate, "secretEnv")}: the environment variable ${quoteSource(name)}`];
}

function readSecretFromFile(gate: ConfigSection, directory: string): [text: string | undefined, source: string] {
  const file = resolve(directory, readField(gate, "secretFile", rules.path));
  const source = `${fieldPath(gate, "secretFile")}: the file ${quoteSource(file)}`;
  try {
    return [readFileSync(file, "utf8"), source];
  } catch {
    throw new ConfigError(`${source} cannot be read; put ${secretRule.expected} there.`);
  }
}
