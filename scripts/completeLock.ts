/**
 * Completes package-lock.json after a change of dependencies: `node scripts/completeLock.ts`.
 *
 * npm leaves out a binary package for another platform when the registry in use does not have it, and then `npm ci`
 * refuses the very lock that npm wrote. The entries are written here from what the depending package asks for; npm
 * never fetches one that is for another platform.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

type Entry = {
  version: string;
  dev?: true;
  optional?: true;
  os?: string[];
  cpu?: string[];
  optionalDependencies?: Record<string, string>;
};
type Lock = { packages: Record<string, Entry> };

const PATH = fileURLToPath(new URL("../package-lock.json", import.meta.url));
const CPUS: Readonly<Record<string, string>> = {
  amd64: "x64",
  x64: "x64",
  ia32: "ia32",
  arm: "arm",
  arm64: "arm64",
  ppc64: "ppc64",
  riscv64: "riscv64",
  s390x: "s390x",
};
const SYSTEMS = new Set([
  "aix",
  "android",
  "darwin",
  "freebsd",
  "linux",
  "netbsd",
  "openbsd",
  "openharmony",
  "sunos",
  "win32",
]);

const lock = JSON.parse(readFileSync(PATH, "utf8")) as Lock;
const missing = missingIn(lock);
for (const [path, entry] of missing) lock.packages[path] = entry;
lock.packages = Object.fromEntries(Object.entries(lock.packages).toSorted(([a], [b]) => a.localeCompare(b, "en")));
writeFileSync(PATH, `${JSON.stringify(lock, null, 2)}\n`);
console.log(`${missing.length} entries added`);

function missingIn({ packages }: Lock): [path: string, entry: Entry][] {
  return Object.entries(packages).flatMap(([parent, entry]) =>
    Object.entries(entry.optionalDependencies ?? {}).flatMap(([name, version]): [string, Entry][] => {
      const path = `node_modules/${name}`;
      if (path in packages || `${parent}/${path}` in packages) return [];
      const { os, cpu } = platformOf(name);
      // Uses npm's order of keys, so that npm's next write changes nothing.
      return [[path, { version, cpu, ...(entry.dev && { dev: true }), optional: true, os }]];
    }),
  );
}

/**
 * "@oxlint/binding-linux-arm64-musl" → linux and arm64. Throws for a name without a platform, because a wrong lock
 * entry is worse.
 */
function platformOf(name: string): { os: string[]; cpu: string[] } {
  const parts = name.split(/[/-]/);
  const os = parts.find((part) => SYSTEMS.has(part));
  const cpu = parts.flatMap((part) => CPUS[part] ?? [])[0];
  if (os === undefined || cpu === undefined) throw new Error(`The name ${name} contains no platform.`);
  return { os: [os], cpu: [cpu] };
}
