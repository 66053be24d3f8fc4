import { execFile } from "node:child_process";
import { copyFile, mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { promisify } from "node:util";

// Builds the publishable package: JavaScript and declarations instead of TypeScript, which Node does not run from
// node_modules. Publish the resulting folder: npm publish ./dist

/** The compiled folder. The other files that the manifest names are copied. */
const SOURCES = "src";

type Manifest = {
  readonly files: readonly string[];
  readonly exports: Readonly<Record<string, string>>;
  readonly [field: string]: unknown;
};

type Target = string | { readonly types: string; readonly default: string };

/** Writes a publishable package into the folder, which is emptied first. Throws when the sources do not compile. */
export async function stagePackage(packageDirectory: string, directory: string): Promise<void> {
  const manifest = JSON.parse(await readFile(join(packageDirectory, "package.json"), "utf8")) as Manifest;
  await rm(directory, { recursive: true, force: true });
  await mkdir(directory, { recursive: true });
  await compile(packageDirectory, directory);
  for (const name of manifest.files.filter((file) => file !== SOURCES))
    await copyFile(join(packageDirectory, name), join(directory, name));
  await writeFile(join(directory, "package.json"), `${JSON.stringify(publishedManifest(manifest), undefined, 2)}\n`);
}

async function compile(packageDirectory: string, directory: string): Promise<void> {
  const require = createRequire(import.meta.url);
  const compiler = join(dirname(require.resolve("typescript/package.json")), "bin", "tsc");
  const options = ["--noEmit", "false", "--declaration", "--rewriteRelativeImportExtensions", "--types", "node"];
  const sources = ["--rootDir", join(packageDirectory, "src"), "--outDir", directory];
  const config = join(packageDirectory, "tsconfig.json");
  await promisify(execFile)(process.execPath, [compiler, "--project", config, ...options, ...sources]);
}

function publishedManifest(manifest: Manifest): object {
  const published: Record<string, Target> = {};
  for (const [subpath, source] of Object.entries(manifest.exports)) published[subpath] = compiledTarget(source);
  return { ...manifest, scripts: undefined, files: undefined, exports: published };
}

function compiledTarget(source: string): Target {
  if (!source.endsWith(".ts")) return source;
  const stem = source.replace("./src/", "./").replace(/\.ts$/, "");
  return { types: `${stem}.d.ts`, default: `${stem}.js` };
}
