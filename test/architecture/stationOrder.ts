// The station order. A station imports only from earlier ones: the packages, which do not depend on the server, then
// the foundation, then the stations in the order in which money passes them.

const PACKAGES = [
  "packages/inbox",
  "packages/recover",
  "packages/client",
  "packages/sdk",
  "packages/react",
  "packages/checkout",
  "packages/dashboard",
  "packages/local-solana",
] as const;

/** Tables of the foundation need no store.ts, but each still has one writer. */
export const FOUNDATION = ["kernel", "config", "db", "chain", "gate", "event", "idempotency", "ledger"] as const;

const ROAD = [
  "catalog",
  "world.ts",
  "merchant",
  "intent",
  "priming",
  "inbox",
  "view",
  "watch",
  "handover",
  "deposit",
  "bridge",
  "settlement",
  "webhook",
  "health",
  "alarm",
  "metrics",
  "audit",
  "dashboard",
] as const;

/** main.ts combines the other entry points, and the CLI starts main.ts. */
const ENTRY_POINTS = ["http", "loops", "main.ts", "operator", "dev", "cli"] as const;

export const STATION_ORDER: readonly string[] = [...PACKAGES, ...FOUNDATION, ...ROAD, ...ENTRY_POINTS];

/** "intent" for src/intent/store.ts, "world.ts" for src/world.ts, "packages/sdk" for its files; undefined elsewhere. */
export function stationOf(path: string): string | undefined {
  const [top, second = "", third] = path.split("/");
  if (top === "src") return second;
  if (top === "packages" && third !== undefined) return `packages/${second}`;
  return undefined;
}

/** The station of one of this repository's packages: @tributary/inbox is packages/inbox. */
export function stationOfPackage(specifier: string): string | undefined {
  const name = /^@tributary\/([^/]+)/.exec(specifier)?.[1];
  return name === undefined ? undefined : `packages/${name}`;
}
