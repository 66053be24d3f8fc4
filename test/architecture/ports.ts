import { isTest, lineNumberAt, type Codebase, type Source, type Violation } from "./codebase.ts";

// Time, randomness, environment and network enter through a few files, so that tests control them. Each port has a
// reason; an unused permission is a violation.

export const IMPURE = {
  time: /\bDate\.now\b|\bnew Date(?:\(\s*\)|(?!\s*\())|\bperformance\.now\b|\bprocess\.hrtime\b/g,
  /** A Date from numbers or text is pure, but few files create one, so that no clock hides among them. */
  dates: /\bnew Date\((?!\s*\))/g,
  /** A service's times come from its database's clock. */
  machineClock: /\bsystemClock\b/g,
  timers: /(?<!\.)\b(?:setTimeout|setInterval|setImmediate)\b/g,
  randomness: /\bMath\.random\b|\brandom(?:Bytes|UUID|Int|FillSync|Fill)\b|\bgetRandomValues\b/g,
  environment: /\bprocess\.env\b/g,
  network: /(?<![.\w])fetch\(|\bglobalThis\.fetch\b/g,
} as const;

/** Packages that give access to the same impurities. */
const IMPURE_PACKAGES: ReadonlyArray<{ specifier: RegExp; impurity: Impurity }> = [
  { specifier: /^(?:node:)?timers(?:\/promises)?$/, impurity: "timers" },
  { specifier: /^(?:undici|(?:node:)?https?)$/, impurity: "network" },
];

export type Impurity = keyof typeof IMPURE;
export type Port = { readonly path: string; readonly allowed: readonly Impurity[]; readonly reason: string };

const PORTS: readonly Port[] = [
  { path: "src/kernel/clock.ts", allowed: ["time", "dates", "timers", "machineClock"], reason: "it is the clock" },
  {
    path: "src/kernel/outbound/outbound.ts",
    allowed: ["network", "time"],
    reason: "it calls the URLs of merchants, and measures the phases of each call",
  },
  {
    path: "src/kernel/outbound/dial.ts",
    allowed: ["network"],
    reason: "it connects to the addresses of merchants' names",
  },
  { path: "src/db/serverClock.ts", allowed: ["dates"], reason: "it is the clock of the database" },
  {
    path: "src/dev/startDev.ts",
    allowed: ["machineClock"],
    reason: "it dates the migrations of the local world's snapshot, before a database is open",
  },
  {
    path: "packages/inbox/src/recoverAfter.ts",
    allowed: ["dates"],
    reason: "it does calendar arithmetic on a date parameter",
  },
  { path: "src/kernel/entropy.ts", allowed: ["randomness"], reason: "it is the source of randomness" },
  { path: "src/config/config.ts", allowed: ["environment"], reason: "it is the only reader of the environment" },
  { path: "src/chain/rpc/jsonRpcClient.ts", allowed: ["network"], reason: "it calls a chain's providers" },
  {
    path: "src/chain/rpc/textSocket.ts",
    allowed: ["network"],
    reason: "it receives new blocks from a chain's providers",
  },
  {
    path: "src/db/postgres/statementBatcher.ts",
    allowed: ["timers"],
    reason: "it batches the statements of one turn of the event loop",
  },
  {
    path: "src/http/wire/limitConnections.ts",
    allowed: ["network"],
    reason: "it answers CONNECT, for which Node creates no response",
  },
  {
    path: "src/intent/restore/readImported.ts",
    allowed: ["dates"],
    reason: "it reads the time of a create from the response that a merchant kept",
  },
  {
    path: "src/kernel/text/parseTime.ts",
    allowed: ["dates"],
    reason: "it parses dates and times from the command line",
  },
  {
    path: "src/kernel/alarm/hostMetrics.ts",
    allowed: ["machineClock"],
    reason: "the alarms compare the machine's clock with the database's",
  },
  {
    path: "src/cli/webhooks/forwardEvent.ts",
    allowed: ["network", "machineClock"],
    reason: "it posts events to a developer's own server, signed at the time of that machine",
  },
  { path: "src/alarm/sendAlarm.ts", allowed: ["network"], reason: "it calls the operator's alarm webhook" },
  {
    path: "src/chain/evm/bridge/attestationClient.ts",
    allowed: ["network"],
    reason: "it asks the bridge's attestation service",
  },
  {
    path: "src/chain/evm/bridge/largeAnswers.ts",
    allowed: ["timers"],
    reason: "it limits the time of an answer, without the time for which the answer waits",
  },
  {
    path: "src/dev/attestation/attestationServer.ts",
    allowed: ["network"],
    reason: "it is the attestation service of the local world",
  },
  {
    path: "src/dev/attestation/solanaSide.ts",
    allowed: ["network"],
    reason: "the local attestation service asks the local Solana, as the real one asks a node",
  },
  {
    path: "src/dev/chains/nodeProxy.ts",
    allowed: ["network"],
    reason: "it stands before a node of the local world",
  },
  { path: "src/gate/remoteGate.ts", allowed: ["network"], reason: "it calls the issuing gate" },
];

/** A listed port may be missing from the codebase: it is stale only when its file exists and does not need it. */
export function impurityStaysInPorts(codebase: Codebase, ports: readonly Port[] = PORTS): Violation[] {
  const checked = codebase.sources.filter((source) => isChecked(source.path));
  const used = new Map<string, Set<Impurity>>();
  const found = checked.flatMap((source) =>
    findImpureUses(source).flatMap(({ impurity, line, matchedText }) => {
      if (ports.find((port) => port.path === source.path)?.allowed.includes(impurity)) {
        used.set(source.path, (used.get(source.path) ?? new Set()).add(impurity));
        return [];
      }
      const message = `"${matchedText}" uses ${impurity}. Take it from World, or add the file with a reason to test/architecture/ports.ts.`;
      return [{ path: source.path, line, message }];
    }),
  );
  return [...found, ...findStalePorts(checked, ports, used)];
}

function findStalePorts(
  checked: readonly Source[],
  ports: readonly Port[],
  used: ReadonlyMap<string, Set<Impurity>>,
): Violation[] {
  return ports.flatMap((port) => {
    if (!checked.some((source) => source.path === port.path)) return [];
    const unused = port.allowed.filter((kind) => used.get(port.path)?.has(kind) !== true);
    if (unused.length === 0) return [];
    return [
      {
        path: port.path,
        message: `It no longer needs ${unused.join(", ")}. Remove the permission in test/architecture/ports.ts.`,
      },
    ];
  });
}

/** The client, the SDK and the page run in browsers with their clock and fetch; the inbox package must be pure. */
function isChecked(path: string): boolean {
  return !isTest(path) && (path.startsWith("src/") || path.startsWith("packages/inbox/"));
}

type ImpureUse = { impurity: Impurity; line: number; matchedText: string };

function findImpureUses(source: Source): ImpureUse[] {
  const { code } = source.masked;
  const uses = kindsOfImpurity().flatMap((impurity) =>
    [...code.matchAll(IMPURE[impurity])].map((match) => ({
      impurity,
      line: lineNumberAt(code, match.index),
      matchedText: match[0],
    })),
  );
  const packages = source.imports
    .filter((item) => !item.typeOnly)
    .flatMap((item) =>
      IMPURE_PACKAGES.filter(({ specifier }) => specifier.test(item.specifier)).map(({ impurity }) => ({
        impurity,
        line: item.line,
        matchedText: item.specifier,
      })),
    );
  return [...uses, ...packages];
}

function kindsOfImpurity(): Impurity[] {
  return ["time", "dates", "machineClock", "timers", "randomness", "environment", "network"];
}
