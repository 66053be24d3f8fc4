import { readFileSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { publishedContracts } from "@tributary/inbox/publishedContracts";
import secureJson from "secure-json-parse";
import type {
  ChainConfig,
  ChainDescription,
  Config,
  DatabaseConfig,
  ProcessEnvironment,
  SolanaProgramConfig,
  WatchedChainConfig,
} from "./config.ts";
import { referenceOf } from "../kernel/caip.ts";
import { closestMatch } from "../kernel/text/closestMatch.ts";
import { stripComments } from "../kernel/text/stripComments.ts";
import { readChain, type ChainContext } from "./chain.ts";
import type { KeyUse } from "./gasKey.ts";
import { readGate } from "./gate.ts";
import * as rules from "./rules.ts";
import { readAcceptedRisks, rejectRisks, type Risk } from "./operate/risks.ts";
import { readAlarms, readMetrics, readTracing } from "./operate/alarms.ts";
import { readNetworks, readOutbound } from "./outbound.ts";
import { readRetention } from "./retention.ts";
import { hasRole, type Role } from "./operate/roles.ts";
import { readBridge, rejectBridgeConflicts } from "./routes/cctpV2.ts";
import { isSolanaChain } from "./solana/clusters.ts";
import { readListedCluster } from "./solana/listedCluster.ts";
import { isWatchedCluster, readWatchedCluster } from "./solana/watchedCluster.ts";
import {
  ConfigError,
  hasField,
  readSection,
  readField,
  readList,
  rejectDuplicates,
  quoteValue,
  type ConfigSection,
} from "./section.ts";

const CONFIG_KEYS = [
  "environment",
  "baseUrl",
  "listen",
  "leaveMs",
  "trustedProxies",
  "database",
  "feeRecipient",
  "feeBps",
  "defaultRail",
  "support",
  "logLevel",
  "chains",
  "gate",
  "bridge",
  "retention",
  "outbound",
  "acceptRisks",
  "payoutChangeDelayHours",
  "alarms",
  "metrics",
  "tracing",
] as const;
const LISTEN_KEYS = ["host", "port"] as const;
const DATABASE_KEYS = ["url", "schema", "replicaUrl", "directory", "allowEmbeddedLive"] as const;

const PORT_DEFAULT = 8_787;
const LEAVE_MS_DEFAULT = 2_000;
/** Half of the time after which a stop that does not end is given up. */
const LEAVE_MS_MAX = 10_000;
/** Two weeks. */
const PAYOUT_CHANGE_HOURS_MAX = 336;
/** Characters that the JSON parser quotes from before the mistake. */
const SNIPPET_PREFIX_LENGTH = 10;
/** Ten percent. The contract and the database enforce the same limit. */
const FEE_BPS_MAX = 1_000;

const ENV_VARIABLES = [
  "TRIBUTARY_DATABASE_URL",
  "TRIBUTARY_DATABASE_SCHEMA",
  "TRIBUTARY_REPLICA_URL",
  "TRIBUTARY_PORT",
  "TRIBUTARY_HOST",
  "TRIBUTARY_BASE_URL",
  "TRIBUTARY_LOG_LEVEL",
];
/** Other modules read these, so they are not typos. */
const OTHER_ENV_VARIABLES = ["TRIBUTARY_HOME", "TRIBUTARY_CONFIG"];

/**
 * Reads the configuration file, which is JSON with `//` comments. Environment variables override it and hold the
 * secrets that it names.
 * @throws ConfigError with one sentence about the first mistake.
 */
export function loadConfig(
  file: string,
  variables: ProcessEnvironment,
  process: Pick<ReadOptions, "roles" | "keys"> = {},
): Config {
  let content: string;
  try {
    content = stripComments(readFileSync(file, "utf8"));
  } catch (error) {
    throw new ConfigError(`${file}: the configuration file cannot be read (${errorMessage(error)}).`);
  }
  let value: unknown;
  try {
    value = secureJson.parse(content);
  } catch (error) {
    throw new ConfigError(`${file}: not valid JSON (${describeSyntaxError(error, content)}).`);
  }
  return readConfig(value, { variables, directory: dirname(resolve(file)), ...process });
}

/** The parser's message with a line number instead of the quoted text, because the text may contain a password. */
function describeSyntaxError(error: unknown, content: string): string {
  const message = errorMessage(error);
  const [quoted = "", before, snippet = ""] = /,? (\.\.\.)?"([^]*)"(?:\.\.\.)? is not valid JSON$/.exec(message) ?? [];
  if (quoted === "") return message;
  const place = content.indexOf(snippet) + (before === undefined ? 0 : SNIPPET_PREFIX_LENGTH);
  return `${message.slice(0, -quoted.length)} in line ${content.slice(0, place).split("\n").length}`;
}

type ReadOptions = {
  variables: ProcessEnvironment;
  directory: string;
  /** What the process does; everything by default. */
  roles?: ReadonlySet<Role> | undefined;
  /** Absent: as the roles need them. */
  keys?: KeyUse | undefined;
};

function usesKeys(roles: ReadonlySet<Role> | undefined): KeyUse {
  return hasRole({ roles }, "settle") ? "sign" : "address";
}

/** Validates a parsed configuration. Relative paths in it start at `directory`. Throws ConfigError. */
export function readConfig(value: unknown, { variables, directory, roles, keys }: ReadOptions): Config {
  const section = applyEnvironment(readSection(value, { path: "", known: CONFIG_KEYS }), variables);
  const environment = readField(section, "environment", rules.oneOf("test", "live"));
  const context = { environment, variables, directory, keys: keys ?? usesKeys(roles) };
  const entries = readList(section, "chains", (entry, path) => readChainEntry(entry, path, context));
  const chains = entries.flatMap(({ watched }) => watched ?? []);
  const solanaChains = entries.flatMap(({ listed }) => listed ?? []);
  const solanaPrograms = entries.flatMap(({ program }) => program ?? []);
  const knownChains = entries.map(({ watched, listed }) => watched ?? listed);
  rejectDuplicates(knownChains, { path: "chains", key: "chainId", of: (chain) => referenceOf(chain.caip2) });
  rejectDuplicates(knownChains, { path: "chains", key: "slug", of: (chain) => chain.slug });
  rejectBridgeConflicts(chains);
  const listen = readListen(section, variables);
  const feeRecipient = readFeeRecipient(section, chains);
  const acceptedRisks = readAcceptedRisks(section);
  const config: Config = {
    ...(roles === undefined ? {} : { roles }),
    environment,
    baseUrl: readBaseUrl(section, { environment, port: listen.port }),
    listen,
    leaveMs: readField(section, "leaveMs", { ...rules.wholeNumber(0, LEAVE_MS_MAX), fallback: LEAVE_MS_DEFAULT }),
    trustedProxies: readNetworks(section, "trustedProxies"),
    database: acceptFsync(readDatabase(section, { environment, directory }), acceptedRisks),
    feeRecipient,
    feeBps: readField(section, "feeBps", { ...rules.wholeNumber(0, FEE_BPS_MAX), fallback: 0 }),
    chains,
    solanaChains,
    ...(solanaPrograms.length > 0 ? { solanaPrograms } : {}),
    gate: readGate(section, { ...context, chains }),
    bridge: readBridge(section, { environment, chains }),
    retention: readRetention(section),
    outbound: readOutbound(section),
    ...readPayoutChangeDelay(section, environment),
    alarms: readAlarms(section),
    metrics: readMetrics(section, listen),
    tracing: readTracing(section),
    defaultRail: readDefaultRail(section, chains),
    ...(hasField(section, "support") ? { support: readField(section, "support", rules.supportAddress) } : {}),
    logLevel: readField(section, "logLevel", {
      ...rules.oneOf<Config["logLevel"]>("silent", "error", "warn", "info", "debug"),
      fallback: "info",
    }),
  };
  // Last, because these errors have a choice.
  if (environment === "live") rejectRisks(config, acceptedRisks);
  return config;
}

/** One entry of `chains`: a watched chain or a listed one, with the inbox program that is compared there. */
type ChainEntry =
  | { watched: WatchedChainConfig; listed?: never; program?: SolanaProgramConfig | undefined }
  | { watched?: never; listed: ChainDescription; program?: SolanaProgramConfig | undefined };

function readChainEntry(entry: unknown, path: string, context: ChainContext): ChainEntry {
  if (!isSolanaChain(entry)) return { watched: readChain(entry, path, context) };
  if (!isWatchedCluster(entry)) {
    const { description, program } = readListedCluster(entry, path, context.environment);
    return { listed: description, program };
  }
  const watched = readWatchedCluster(entry, path, context);
  const { caip2, name, program: address, rpcUrls } = watched;
  const [rpcUrl] = rpcUrls;
  return { watched, ...(rpcUrl === undefined ? {} : { program: { caip2, name, address, rpcUrl } }) };
}

/** Overrides fields with environment variables. Rejects misspelled `TRIBUTARY_` variables. */
function applyEnvironment(section: ConfigSection, variables: ProcessEnvironment): ConfigSection {
  const secretVariables = new Set(
    [...JSON.stringify(section.fields).matchAll(/"(?:gasKeyEnv|feePayerKeyEnv|secretEnv)":"(\w+)"/g)].map(
      (match) => match[1],
    ),
  );
  for (const name of Object.keys(variables)) {
    if (!name.startsWith("TRIBUTARY_") || secretVariables.has(name)) continue;
    if (ENV_VARIABLES.includes(name) || OTHER_ENV_VARIABLES.includes(name)) continue;
    const suggestion = closestMatch(name, ENV_VARIABLES);
    if (suggestion !== undefined)
      throw new ConfigError(`${name}: unknown environment variable; did you mean ${suggestion}?`);
  }
  const getVariable = (name: string) => (variables[name] === "" ? undefined : variables[name]);
  const url = getVariable("TRIBUTARY_DATABASE_URL");
  const schema = getVariable("TRIBUTARY_DATABASE_SCHEMA");
  const replicaUrl = getVariable("TRIBUTARY_REPLICA_URL");
  return {
    path: section.path,
    fields: {
      ...section.fields,
      ...(getVariable("TRIBUTARY_BASE_URL") === undefined ? {} : { baseUrl: getVariable("TRIBUTARY_BASE_URL") }),
      ...(getVariable("TRIBUTARY_LOG_LEVEL") === undefined ? {} : { logLevel: getVariable("TRIBUTARY_LOG_LEVEL") }),
      ...(url === undefined && schema === undefined && replicaUrl === undefined
        ? {}
        : { database: overrideDatabase(section.fields["database"], { url, schema, replicaUrl }) }),
    },
  };
}

/** A URL in the environment replaces the database of the file and its copy, but not its schema. */
function overrideDatabase(
  value: unknown,
  { url, schema, replicaUrl }: Record<"url" | "schema" | "replicaUrl", string | undefined>,
) {
  const fields = typeof value === "object" && value !== null ? { ...value } : {};
  const kept = url === undefined ? fields : { url, ...("schema" in fields ? { schema: fields.schema } : {}) };
  return {
    ...kept,
    ...(schema === undefined ? {} : { schema }),
    ...(replicaUrl === undefined ? {} : { replicaUrl }),
  };
}

function readListen(section: ConfigSection, variables: ProcessEnvironment): Config["listen"] {
  const listen = readSection(section.fields["listen"] ?? {}, { path: "listen", known: LISTEN_KEYS });
  const host = readField(listen, "host", { ...rules.text, fallback: "127.0.0.1" });
  const port = readField(listen, "port", { ...rules.wholeNumber(1, 65_535), fallback: PORT_DEFAULT });
  return { host: variables["TRIBUTARY_HOST"] ?? host, port: readPort(variables) ?? port };
}

/** The port in TRIBUTARY_PORT, else in PORT; undefined when neither is set. Throws ConfigError for an invalid port. */
export function readPort(variables: ProcessEnvironment): number | undefined {
  for (const name of ["TRIBUTARY_PORT", "PORT"]) {
    const text = variables[name];
    if (text === undefined || text === "") continue;
    const port = /^\d{1,5}$/.test(text) ? Number(text) : 0;
    if (port < 1 || port > 65_535)
      throw new ConfigError(`${name}: ${quoteValue(text)} is not a port; give a number from 1 to 65535.`);
    return port;
  }
  return undefined;
}

function readBaseUrl(
  section: ConfigSection,
  { environment, port }: { environment: "test" | "live"; port: number },
): string {
  if (environment === "test") {
    return readField(section, "baseUrl", { ...rules.baseUrl, fallback: `http://127.0.0.1:${port}` });
  }
  const url = readField(section, "baseUrl", rules.baseUrl);
  if (!url.startsWith("https://")) {
    throw new ConfigError(
      `baseUrl: ${JSON.stringify(url)} is not encrypted; live payments need a URL that begins with https://.`,
    );
  }
  return url;
}

function acceptFsync(database: Config["database"], accepted: readonly Risk[]): Config["database"] {
  const isAccepted = database.kind === "postgres" && accepted.includes("unsafeFsync");
  return isAccepted ? { ...database, acceptsUnsafeFsync: true } : database;
}

function readDatabase(
  section: ConfigSection,
  { environment, directory }: { environment: "test" | "live"; directory: string },
): DatabaseConfig {
  if (!hasField(section, "database")) {
    throw new ConfigError(
      'database: missing; set TRIBUTARY_DATABASE_URL or give {"url": "postgres://…"} or {"directory": "…"}.',
    );
  }
  const database = readSection(section.fields["database"], { path: "database", known: DATABASE_KEYS });
  if (hasField(database, "url") === hasField(database, "directory")) {
    throw new ConfigError("database: give either a url (PostgreSQL) or a directory (embedded), not both.");
  }
  if (hasField(database, "url")) {
    const url = rules.postgresUrl.parse(database.fields["url"]);
    // The error does not quote the URL, because it may contain a password.
    if (url === undefined)
      throw new ConfigError(`database.url: the value is not accepted; give ${rules.postgresUrl.expected}.`);
    return {
      kind: "postgres",
      url,
      ...(hasField(database, "schema") ? { schema: readField(database, "schema", rules.schemaName) } : {}),
      ...(hasField(database, "replicaUrl") ? { replicaUrl: readReplicaUrl(database) } : {}),
    };
  }
  if (hasField(database, "schema")) {
    throw new ConfigError("database.schema: the embedded database has one schema; give a url (PostgreSQL).");
  }
  if (hasField(database, "replicaUrl")) {
    throw new ConfigError("database.replicaUrl: the embedded database has no copy; give a url (PostgreSQL).");
  }
  const allowed = readField(database, "allowEmbeddedLive", { ...rules.flag, fallback: false });
  if (environment === "live" && !allowed) {
    throw new ConfigError(
      "database.directory: the embedded database may lose confirmed payments when the power fails; give the url of a PostgreSQL server, or accept the risk with allowEmbeddedLive.",
    );
  }
  return { kind: "pglite", directory: resolve(directory, readField(database, "directory", rules.path)) };
}

/** The error does not quote the URL, because it may contain a password. */
function readReplicaUrl(database: ConfigSection): string {
  const url = rules.postgresUrl.parse(database.fields["replicaUrl"]);
  if (url !== undefined) return url;
  throw new ConfigError(`database.replicaUrl: the value is not accepted; give ${rules.postgresUrl.expected}.`);
}

function readFeeRecipient(section: ConfigSection, chains: readonly ChainConfig[]): string {
  const address = readField(section, "feeRecipient", rules.evmAddress);
  const token = chains.flatMap((chain) => chain.tokens).find((candidate) => candidate.address === address);
  if (token !== undefined) {
    throw new ConfigError(`feeRecipient: this is the contract of ${token.symbol}; give the address of a wallet.`);
  }
  if (publishedContracts.some((contract) => contract === address))
    throw new ConfigError("feeRecipient: this is a contract of the service, where fees are lost; give a wallet.");
  return address;
}

function readDefaultRail(section: ConfigSection, chains: readonly ChainConfig[]): string {
  const rails = chains.flatMap((chain) =>
    chain.tokens.filter((token) => token.isRail).map((token) => `${chain.slug}:${token.slug}`),
  );
  const [first] = rails;
  if (first === undefined) {
    throw new ConfigError("chains: no token is a rail, so no merchant can be paid; set isRail on one token.");
  }
  const rail = readField(section, "defaultRail", {
    ...rules.text,
    expected: `one of ${rails.join(", ")}`,
    fallback: rails.length === 1 ? first : undefined,
  });
  if (rails.includes(rail)) return rail;
  const meant = closestMatch(rail, rails);
  throw new ConfigError(
    `defaultRail: ${quoteValue(rail)} is not a rail; ${meant === undefined ? `give one of ${rails.join(", ")}.` : `did you mean ${meant}?`}`,
  );
}

function errorMessage(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** On a live installation a change of a payout waits, so that its merchant can stop it. */
function readPayoutChangeDelay(
  section: ConfigSection,
  environment: Config["environment"],
): Pick<Config, "payoutChangeDelayHours"> {
  const key = "payoutChangeDelayHours";
  if (!hasField(section, key)) return {};
  const hoursMin = environment === "live" ? 1 : 0;
  return { payoutChangeDelayHours: readField(section, key, rules.wholeNumber(hoursMin, PAYOUT_CHANGE_HOURS_MAX)) };
}
