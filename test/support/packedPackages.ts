import { execFile } from "node:child_process";
import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { stagePackage } from "../../scripts/stagePackage.ts";

// What `npm pack` makes of the published packages, installed by npm in a fresh folder, without a network.

const run = promisify(execFile);
const require = createRequire(import.meta.url);

export const PUBLISHED = ["client", "inbox", "sdk", "react"] as const;
export type PublishedPackage = (typeof PUBLISHED)[number];

/** What each of them needs from the registry, and how this workspace finds it. */
const FOREIGN: Readonly<Record<string, string>> = {
  "@noble/curves": "@noble/curves/ed25519",
  "@noble/hashes": "@noble/hashes/sha3",
  "@scure/base": "@scure/base",
  "hash-wasm": "hash-wasm",
  "@types/react": "@types/react/package.json",
  csstype: "csstype/package.json",
  react: "react/package.json",
};

export type PackedManifest = {
  readonly exports: Readonly<Record<string, string | Readonly<Record<string, string>>>>;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly peerDependencies?: Readonly<Record<string, string>>;
  readonly [field: string]: unknown;
};

export type InstalledPackages = {
  /** The fresh folder. */
  root: string;
  /** Where a package is installed. */
  folderOf(name: PublishedPackage): string;
  readManifest(name: PublishedPackage): Promise<PackedManifest>;
  /** Runs a module in the folder and returns its output. */
  runModule(source: string, options?: { node?: string; parameters?: readonly string[] }): Promise<string>;
  /**
   * Type-checks a module in the folder, strictly and with the packages' own declarations. Throws what the compiler
   * printed.
   */
  compile(source: string, resolution: "node16" | "bundler"): Promise<void>;
  remove(): Promise<void>;
};

/** Packs the named packages with what they need and installs them. */
export async function installPackages(names: readonly PublishedPackage[]): Promise<InstalledPackages> {
  const temporary = await mkdtemp(join(tmpdir(), "tributary-packed-"));
  const [staged, tarballs, root] = [join(temporary, "staged"), join(temporary, "tarballs"), join(temporary, "fresh")];
  for (const folder of [staged, tarballs, root]) await mkdir(folder);
  for (const name of names) await stagePackage(repositoryPath(`packages/${name}`), join(staged, name));
  const folders = [...names.map((name) => join(staged, name)), ...Object.entries(FOREIGN).map(folderOfForeign)];
  const pack = ["pack", "--json", "--ignore-scripts", "--pack-destination", tarballs, ...folders];
  const { stdout } = await run("npm", pack, { cwd: temporary });
  const files = (JSON.parse(stdout) as { filename: string }[]).map(({ filename }) => join(tarballs, filename));
  await writeFile(join(root, "package.json"), '{ "name": "fresh", "private": true }\n');
  const quiet = ["--offline", "--no-audit", "--no-fund", "--ignore-scripts", "--cache", join(temporary, "cache")];
  await run("npm", ["install", ...quiet, ...files], { cwd: root });
  const folderOf = (name: PublishedPackage) => join(root, "node_modules", "@tributary", name);
  return {
    root,
    folderOf,
    readManifest: async (name) =>
      JSON.parse(await readFile(join(folderOf(name), "package.json"), "utf8")) as PackedManifest,
    async runModule(source, { node = process.execPath, parameters = [] } = {}) {
      const flags = node === process.execPath ? ["--no-experimental-strip-types"] : [];
      const all = [...flags, "--input-type=module", "--eval", source, ...parameters];
      return (await run(node, all, { cwd: root })).stdout;
    },
    compile: (source, resolution) => compile({ root, source, resolution }),
    remove: () => rm(temporary, { recursive: true, force: true }),
  };
}

function folderOfForeign([name, entry]: [string, string]): string {
  const workspace = createRequire(repositoryPath("packages/react/package.json"));
  const file = (name.includes("react") || name === "csstype" ? workspace : require).resolve(entry);
  return file.slice(0, file.lastIndexOf(`/node_modules/${name}/`) + `/node_modules/${name}`.length);
}

const repositoryPath = (path: string) => fileURLToPath(new URL(`../../${path}`, import.meta.url));

type Compilation = { root: string; source: string; resolution: "node16" | "bundler" };

async function compile({ root, source, resolution }: Compilation): Promise<void> {
  await writeFile(join(root, "program.mts"), source);
  const compiler = join(dirname(require.resolve("typescript/package.json")), "bin", "tsc");
  const module = resolution === "node16" ? "node16" : "esnext";
  const options = ["--noEmit", "--strict", "--skipLibCheck", "false", "--resolveJsonModule", "--types", ""];
  const target = ["--target", "es2022", "--lib", "es2022,dom,dom.iterable", "--module", module];
  const files = ["--moduleResolution", resolution, "program.mts"];
  try {
    await run(process.execPath, [compiler, ...options, ...target, ...files], { cwd: root });
  } catch (error) {
    throw new Error(`${resolution}: ${(error as { stdout?: string }).stdout ?? String(error)}`, { cause: error });
  }
}
