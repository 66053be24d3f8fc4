import { isTest, lineAt, type House, type Source, type Violation } from "./house.ts";

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
const IMPURE_PACKAGES: ReadonlyArray<{ specifier: RegExp; kind: Impurity }> = [
  { specifier: /^(?:node:)?timers(?:\/promises)?$/, kind: "timers" },
  { specifier: /^(?:undici|(?:node:)?https?)$/, kind: "network" },
];

export type Impurity = keyof typeof IMPURE;
export type Port = { readonly path: string; readonly may: readonly Impurity[]; readonly because: string };

export const PORTS: readonly Port[] = [
  { path: "src/kernel/clock.ts", may: ["time", "dates", "timers"], because: "it is the clock" },
  {
    path: "packages/inbox/src/recoverAfter.ts",
    may: ["dates"],
    because: "it is calendar arithmetic on a date it is given",
  },
  { path: "src/kernel/entropy.ts", may: ["randomness"], because: "it is the source of randomness" },
  { path: "src/config.ts", may: ["environment"], because: "it is the only reader of the environment" },
  { path: "src/chain/evm/rpc.ts", may: ["network"], because: "it is the wire to a chain's providers" },
  {
    path: "src/chain/evm/newHeadsSocket.ts",
    may: ["network"],
    because: "it is the wire on which a chain's providers tell of blocks",
  },
  {
    path: "src/db/flights.ts",
    may: ["timers"],
    because: "it gathers what is asked for in one turn of the event loop",
  },
  {
    path: "src/http/connections.ts",
    may: ["network"],
    because: "it answers CONNECT, for which Node makes no response",
  },
  { path: "src/cli/typed.ts", may: ["dates"], because: "it reads days and times as they are typed" },
  { path: "src/chain/remoteGate.ts", may: ["network"], because: "it is the wire to the issuing gate" },
];

/** A port that the house does not have yet may be listed: it is only stale when its file exists and does not need it. */
export function impurityStaysInPorts(house: House, ports: readonly Port[] = PORTS): Violation[] {
  const judged = house.sources.filter((source) => isJudged(source.path));
  const used = new Map<string, Set<Impurity>>();
  const found = judged.flatMap((source) =>
    usesOf(source).flatMap(({ kind, line, word }) => {
      if (ports.find((port) => port.path === source.path)?.may.includes(kind)) {
        used.set(source.path, (used.get(source.path) ?? new Set()).add(kind));
        return [];
      }
      const message = `"${word}" brings in ${kind}. Take it from World, or list the file with its reason in test/architecture/ports.ts.`;
      return [{ path: source.path, line, message }];
    }),
  );
  return [...found, ...stalePorts(judged, ports, used)];
}

function stalePorts(
  judged: readonly Source[],
  ports: readonly Port[],
  used: ReadonlyMap<string, Set<Impurity>>,
): Violation[] {
  return ports.flatMap((port) => {
    if (!judged.some((source) => source.path === port.path)) return [];
    const unused = port.may.filter((kind) => used.get(port.path)?.has(kind) !== true);
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
function isJudged(path: string): boolean {
  return !isTest(path) && (path.startsWith("src/") || path.startsWith("packages/inbox/"));
}

type Use = { kind: Impurity; line: number; word: string };

function usesOf(source: Source): Use[] {
  const { code } = source.layers;
  const words = kindsOfImpurity().flatMap((kind) =>
    [...code.matchAll(IMPURE[kind])].map((match) => ({ kind, line: lineAt(code, match.index), word: match[0] })),
  );
  const packages = source.imports
    .filter((item) => !item.typeOnly)
    .flatMap((item) =>
      IMPURE_PACKAGES.filter(({ specifier }) => specifier.test(item.specifier)).map(({ kind }) => ({
        kind,
        line: item.line,
        word: item.specifier,
      })),
    );
  return [...words, ...packages];
}

function kindsOfImpurity(): Impurity[] {
  return ["time", "dates", "timers", "randomness", "environment", "network"];
}
