// The order of the house. A station imports only from what stands before it: the packages that know no server, the
// ground, and the stations that money has passed already.

const PACKAGES = [
  "packages/inbox",
  "packages/recover",
  "packages/client",
  "packages/sdk",
  "packages/checkout",
] as const;

/** Tables of the ground have no store.ts; one file writes each of them all the same. */
export const FOUNDATION = ["kernel", "config", "db", "chain", "gate", "event", "idempotency", "ledger"] as const;

const ROAD = [
  "catalog",
  "world.ts",
  "merchant",
  "intent",
  "inbox",
  "view",
  "watch",
  "deposit",
  "settlement",
  "webhook",
  "audit",
] as const;

/** main.ts puts the other doors together, and the command line starts main.ts. */
const ENTRY_POINTS = ["http", "loops", "main.ts", "operator", "dev", "cli"] as const;

export const STATION_ORDER: readonly string[] = [...PACKAGES, ...FOUNDATION, ...ROAD, ...ENTRY_POINTS];

/** "intent" for src/intent/store.ts, "world.ts" for src/world.ts, "packages/sdk" below it; undefined outside of both. */
export function stationOf(path: string): string | undefined {
  const [top, second = "", third] = path.split("/");
  if (top === "src") return second;
  if (top === "packages" && third !== undefined) return `packages/${second}`;
  return undefined;
}

/** The station that a package of ours belongs to, by its name: @tributary/inbox is packages/inbox. */
export function stationOfPackage(specifier: string): string | undefined {
  const name = /^@tributary\/([^/]+)/.exec(specifier)?.[1];
  return name === undefined ? undefined : `packages/${name}`;
}
