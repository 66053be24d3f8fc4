import { isTest, lineNumberAt, type Codebase, type Source, type Violation } from "./codebase.ts";

// Whatever makes two runs differ enters through few files, so that a test owns all of it. Each exception names its reason;
// an exception that nothing needs any more is itself a violation.

export const IMPURE = {
  time: /\bDate\.now\b|\bnew Date(?:\(\s*\)|(?!\s*\())|\bperformance\.now\b|\bprocess\.hrtime\b/g,
  /** A Date made of numbers or text is harmless by itself; few files make one, so that no clock hides among them. */
  dates: /\bnew Date\((?!\s*\))/g,
  timers: /(?<!\.)\b(?:setTimeout|setInterval|setImmediate)\b/g,
  randomness: /\bMath\.random\b|\brandom(?:Bytes|UUID|Int|FillSync|Fill)\b|\bgetRandomValues\b/g,
  environment: /\bprocess\.env\b/g,
  network: /(?<![.\w])fetch\(|\bglobalThis\.fetch\b/g,
} as const;

/** Packages that are another way to reach the same thing. */
const IMPURE_PACKAGES: ReadonlyArray<{ specifier: RegExp; impurity: Impurity }> = [
  { specifier: /^(?:node:)?timers(?:\/promises)?$/, impurity: "timers" },
  { specifier: /^(?:undici|(?:node:)?https?)$/, impurity: "network" },
];

export type Impurity = keyof typeof IMPURE;
export type Port = { readonly path: string; readonly allowed: readonly Impurity[]; readonly reason: string };

const PORTS: readonly Port[] = [
  { path: "src/kernel/clock.ts", allowed: ["time", "dates", "timers"], reason: "it is the clock" },
  {
    path: "packages/inbox/src/recoverAfter.ts",
    allowed: ["dates"],
    reason: "it is calendar arithmetic on a date it is given",
  },
  { path: "src/kernel/entropy.ts", allowed: ["randomness"], reason: "it is the source of randomness" },
  { path: "src/config/config.ts", allowed: ["environment"], reason: "it is the only reader of the environment" },
  { path: "src/chain/evm/rpc/jsonRpcClient.ts", allowed: ["network"], reason: "it is the wire to a chain's providers" },
  {
    path: "src/chain/evm/rpc/textSocket.ts",
    allowed: ["network"],
    reason: "it is the wire on which a chain's providers tell of blocks",
  },
  {
    path: "src/db/postgres/statementBatcher.ts",
    allowed: ["timers"],
    reason: "it batches the statements of one turn of the event loop",
  },
  {
    path: "src/http/wire/limitConnections.ts",
    allowed: ["network"],
    reason: "it answers CONNECT, for which Node makes no response",
  },
  { path: "src/kernel/text/parseTime.ts", allowed: ["dates"], reason: "it reads days and times as they are typed" },
  { path: "src/gate/remoteGate.ts", allowed: ["network"], reason: "it is the wire to the issuing gate" },
];

/** A port that the house does not have yet may be listed: it is only stale when its file exists and does not need it. */
export function impurityStaysInPorts(house: Codebase, ports: readonly Port[] = PORTS): Violation[] {
  const judged = house.sources.filter((source) => isChecked(source.path));
  const used = new Map<string, Set<Impurity>>();
  const found = judged.flatMap((source) =>
    findImpureUses(source).flatMap(({ impurity, line, matchedText }) => {
      if (ports.find((port) => port.path === source.path)?.allowed.includes(impurity)) {
        used.set(source.path, (used.get(source.path) ?? new Set()).add(impurity));
        return [];
      }
      const message = `"${matchedText}" brings in ${impurity}. Take it from World, or list the file with its reason in test/architecture/ports.ts.`;
      return [{ path: source.path, line, message }];
    }),
  );
  return [...found, ...findStalePorts(judged, ports, used)];
}

function findStalePorts(
  judged: readonly Source[],
  ports: readonly Port[],
  used: ReadonlyMap<string, Set<Impurity>>,
): Violation[] {
  return ports.flatMap((port) => {
    if (!judged.some((source) => source.path === port.path)) return [];
    const unused = port.allowed.filter((kind) => used.get(port.path)?.has(kind) !== true);
    if (unused.length === 0) return [];
    return [
      {
        path: port.path,
        message: `It no longer needs ${unused.join(", ")}. Take that out of test/architecture/ports.ts.`,
      },
    ];
  });
}

/** The client, the SDK and the page run elsewhere and have the browser's clock and fetch; the inbox package is pure. */
function isChecked(path: string): boolean {
  return !isTest(path) && (path.startsWith("src/") || path.startsWith("packages/inbox/"));
}

type ImpureUse = { impurity: Impurity; line: number; matchedText: string };

function findImpureUses(source: Source): ImpureUse[] {
  const { code } = source.masked;
  const words = kindsOfImpurity().flatMap((impurity) =>
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
  return [...words, ...packages];
}

function kindsOfImpurity(): Impurity[] {
  return ["time", "dates", "timers", "randomness", "environment", "network"];
}
