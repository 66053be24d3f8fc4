import { readFileSync } from "node:fs";
import { dirname, resolve } from "node:path";
import secureJson from "secure-json-parse";
import type { ChainConfig, Config, DatabaseConfig, Environment } from "../../config.ts";
import { referenceOf } from "../../kernel/caip.ts";
import { nearest } from "../../kernel/nearest.ts";
import { readChain } from "./chain.ts";
import { readGate } from "./gate.ts";
import * as rules from "./rules.ts";
import { isSolanaChain, readSolanaChain } from "./solanaChain.ts";
import { ConfigRefused, isGiven, openSection, read, readList, refuseTwins, shown, type Section } from "./section.ts";

const KEYS = [
  "environment",
  "baseUrl",
  "listen",
  "trustedProxies",
  "database",
  "feeRecipient",
  "feeBps",
  "defaultRail",
  "logLevel",
  "chains",
  "gate",
] as const;
const LISTEN_KEYS = ["host", "port"] as const;
const DATABASE_KEYS = ["url", "directory", "allowEmbeddedLive"] as const;

const PORT_DEFAULT = 8_787;
/** How many characters the parser quotes from before the place of a mistake. */
const PIECE_BEFORE = 10;
/** The contract and the database refuse more than ten percent as well. */
const FEE_BPS_MAX = 1_000;

const VARIABLES = [
  "TRIBUTARY_DATABASE_URL",
  "TRIBUTARY_PORT",
  "TRIBUTARY_HOST",
  "TRIBUTARY_BASE_URL",
  "TRIBUTARY_LOG_LEVEL",
];
/** Read elsewhere, and so not mistaken here for a slip of the hand. */
const VARIABLES_ELSEWHERE = ["TRIBUTARY_HOME", "TRIBUTARY_CONFIG"];

/**
 * Reads the configuration file; the environment wins over it, and holds the secrets that the file only names.
 * @throws ConfigRefused with one sentence about the first thing that is wrong.
 */
export function loadConfig(file: string, variables: Environment): Config {
  let content: string;
  try {
    content = readFileSync(file, "utf8");
  } catch (error) {
    throw new ConfigRefused(`${file}: the configuration file cannot be read (${messageOf(error)}).`);
  }
  let value: unknown;
  try {
    value = secureJson.parse(content);
  } catch (error) {
    throw new ConfigRefused(`${file}: this is not JSON (${syntaxError(error, content)}).`);
  }
  return readConfig(value, { variables, directory: dirname(resolve(file)) });
}

/** What the parser says of a text, with the line in the place of the piece of the text that it quotes: there may be a password in that. */
function syntaxError(error: unknown, content: string): string {
  const message = messageOf(error);
  const [quoted = "", before, piece = ""] = /,? (\.\.\.)?"([^]*)"(?:\.\.\.)? is not valid JSON$/.exec(message) ?? [];
  if (quoted === "") return message;
  const place = content.indexOf(piece) + (before === undefined ? 0 : PIECE_BEFORE);
  return `${message.slice(0, -quoted.length)} in line ${content.slice(0, place).split("\n").length}`;
}

/** `directory` is what relative paths in the configuration start from. */
export function readConfig(value: unknown, given: { variables: Environment; directory: string }): Config {
  const { variables, directory } = given;
  const section = withVariables(openSection(value, { path: "", known: KEYS }), variables);
  const environment = read(section, "environment", rules.oneOf("test", "live"));
  const around = { environment, variables, directory };
  const entries = readList(section, "chains", (entry, path) =>
    isSolanaChain(entry)
      ? { solana: readSolanaChain(entry, path, environment) }
      : { evm: readChain(entry, path, around) },
  );
  const chains = entries.flatMap(({ evm }) => evm ?? []);
  const solanaChains = entries.flatMap(({ solana }) => solana ?? []);
  const knownChains = entries.map(({ evm, solana }) => evm ?? solana);
  refuseTwins(knownChains, { path: "chains", key: "chainId", of: (chain) => referenceOf(chain.caip2) });
  refuseTwins(knownChains, { path: "chains", key: "slug", of: (chain) => chain.slug });
  const listen = readListen(section, variables);
  const feeRecipient = readFeeRecipient(section, chains);
  return {
    environment,
    baseUrl: readBaseUrl(section, { environment, port: listen.port }),
    listen,
    trustedProxies: readTrustedProxies(section),
    database: readDatabase(section, { environment, directory }),
    feeRecipient,
    feeBps: read(section, "feeBps", { ...rules.wholeNumber(0, FEE_BPS_MAX), fallback: 0 }),
    chains,
    solanaChains,
    gate: readGate(section, { ...around, chains }),
    defaultRail: readDefaultRail(section, chains),
    logLevel: read(section, "logLevel", {
      ...rules.oneOf<Config["logLevel"]>("silent", "error", "warn", "info", "debug"),
      fallback: "info",
    }),
  };
}

/** Puts what the environment says in the place of what the file says, and refuses a variable that is almost one of ours. */
function withVariables(section: Section, variables: Environment): Section {
  const named = new Set(
    [...JSON.stringify(section.fields).matchAll(/"(?:gasKeyEnv|secretEnv)":"(\w+)"/g)].map((match) => match[1]),
  );
  for (const name of Object.keys(variables)) {
    if (!name.startsWith("TRIBUTARY_") || named.has(name)) continue;
    if (VARIABLES.includes(name) || VARIABLES_ELSEWHERE.includes(name)) continue;
    const meant = nearest(name, VARIABLES);
    if (meant !== undefined)
      throw new ConfigRefused(`${name}: no such environment variable is read; did you mean ${meant}?`);
  }
  const given = (name: string) => (variables[name] === "" ? undefined : variables[name]);
  const url = given("TRIBUTARY_DATABASE_URL");
  return {
    path: section.path,
    fields: {
      ...section.fields,
      ...(given("TRIBUTARY_BASE_URL") === undefined ? {} : { baseUrl: given("TRIBUTARY_BASE_URL") }),
      ...(given("TRIBUTARY_LOG_LEVEL") === undefined ? {} : { logLevel: given("TRIBUTARY_LOG_LEVEL") }),
      ...(url === undefined ? {} : { database: { url } }),
    },
  };
}

function readListen(section: Section, variables: Environment): Config["listen"] {
  const listen = openSection(section.fields["listen"] ?? {}, { path: "listen", known: LISTEN_KEYS });
  const host = read(listen, "host", { ...rules.text, fallback: "127.0.0.1" });
  const port = read(listen, "port", { ...rules.wholeNumber(1, 65_535), fallback: PORT_DEFAULT });
  return { host: variables["TRIBUTARY_HOST"] ?? host, port: readPort(variables) ?? port };
}

function readTrustedProxies(section: Section): string[] {
  if (!isGiven(section, "trustedProxies")) return [];
  return readList(section, "trustedProxies", (value, path) => {
    const network = rules.network.parse(value);
    if (network === undefined) {
      throw new ConfigRefused(`${path}: ${shown(value)} is not accepted, give ${rules.network.expected}.`);
    }
    return network;
  });
}

/** The port that the environment asks for, TRIBUTARY_PORT before PORT; undefined when it names none. */
export function readPort(variables: Environment): number | undefined {
  for (const name of ["TRIBUTARY_PORT", "PORT"]) {
    const text = variables[name];
    if (text === undefined || text === "") continue;
    const port = /^\d{1,5}$/.test(text) ? Number(text) : 0;
    if (port < 1 || port > 65_535)
      throw new ConfigRefused(`${name}: ${shown(text)} is no port, give a number from 1 to 65535.`);
    return port;
  }
  return undefined;
}

function readBaseUrl(section: Section, around: { environment: "test" | "live"; port: number }): string {
  if (around.environment === "test") {
    return read(section, "baseUrl", { ...rules.baseUrl, fallback: `http://127.0.0.1:${around.port}` });
  }
  const url = read(section, "baseUrl", rules.baseUrl);
  if (!url.startsWith("https://")) {
    throw new ConfigRefused(
      `baseUrl: ${JSON.stringify(url)} is not encrypted, live payments need a URL that begins with https://.`,
    );
  }
  return url;
}

function readDatabase(section: Section, around: { environment: "test" | "live"; directory: string }): DatabaseConfig {
  if (!isGiven(section, "database")) {
    throw new ConfigRefused(
      'database: it is missing, set TRIBUTARY_DATABASE_URL or give {"url": "postgres://…"} or {"directory": "…"}.',
    );
  }
  const database = openSection(section.fields["database"], { path: "database", known: DATABASE_KEYS });
  if (isGiven(database, "url") === isGiven(database, "directory")) {
    throw new ConfigRefused("database: give either a url (PostgreSQL) or a directory (embedded), and not both.");
  }
  if (isGiven(database, "url")) {
    const url = rules.postgresUrl.parse(database.fields["url"]);
    // It is not quoted: there may be a password in it.
    if (url === undefined)
      throw new ConfigRefused(`database.url: it is not accepted, give ${rules.postgresUrl.expected}.`);
    return { kind: "postgres", url };
  }
  const allowed = read(database, "allowEmbeddedLive", { ...rules.flag, fallback: false });
  if (around.environment === "live" && !allowed) {
    throw new ConfigRefused(
      "database.directory: the embedded database may lose confirmed payments when the power fails, give a url to PostgreSQL or accept that with allowEmbeddedLive.",
    );
  }
  return { kind: "pglite", directory: resolve(around.directory, read(database, "directory", rules.path)) };
}

function readFeeRecipient(section: Section, chains: readonly ChainConfig[]): string {
  const address = read(section, "feeRecipient", rules.evmAddress);
  const token = chains.flatMap((chain) => chain.tokens).find((candidate) => candidate.address === address);
  if (token !== undefined) {
    throw new ConfigRefused(`feeRecipient: this is the contract of ${token.symbol}, give the address of a wallet.`);
  }
  return address;
}

function readDefaultRail(section: Section, chains: readonly ChainConfig[]): string {
  const rails = chains.flatMap((chain) =>
    chain.tokens.filter((token) => token.isRail).map((token) => `${chain.slug}:${token.slug}`),
  );
  const [first] = rails;
  if (first === undefined) {
    throw new ConfigRefused("chains: no token is a rail, so nobody could be paid; set isRail on one of them.");
  }
  const rail = read(section, "defaultRail", {
    ...rules.text,
    expected: `one of ${rails.join(", ")}`,
    fallback: rails.length === 1 ? first : undefined,
  });
  if (rails.includes(rail)) return rail;
  const meant = nearest(rail, rails);
  throw new ConfigRefused(
    `defaultRail: ${shown(rail)} is no rail, ${meant === undefined ? `give one of ${rails.join(", ")}.` : `did you mean ${meant}?`}`,
  );
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
