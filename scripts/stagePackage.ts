import { execFile } from "node:child_process";
import { copyFile, glob, mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

// Builds the publishable package: JavaScript and declarations instead of TypeScript, which Node does not run from
// node_modules. Publish the resulting folder: npm publish ./dist

/** The compiled folder. The other files that the manifest names are copied. */
const SOURCES = "src";

const LICENSE = fileURLToPath(new URL("../LICENSE", import.meta.url));

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
  await renameImportsOfTypes(directory);
  await copyFile(LICENSE, join(directory, "LICENSE"));
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

/** The compiler leaves `.ts` in the imports of declarations. */
async function renameImportsOfTypes(directory: string): Promise<void> {
  for await (const name of glob("**/*.d.ts", { cwd: directory })) {
    const file = join(directory, name);
    const text = await readFile(file, "utf8");
    await writeFile(file, text.replaceAll(/((?:\bfrom |\bimport\()"\.{1,2}\/[^"]*)\.ts"/g, '$1.js"'));
  }
}

function publishedManifest(manifest: Manifest): object {
  const published: Record<string, Target> = {};
  for (const [subpath, source] of Object.entries(manifest.exports))
    if (isPublished(source, manifest)) published[subpath] = compiledTarget(source);
  const dropped = { scripts: undefined, files: undefined, devDependencies: undefined };
  // The registry keeps a package with a scope private unless it says otherwise.
  return { ...manifest, ...dropped, exports: published, publishConfig: { access: "public" } };
}

/** Built files that only the service serves are no part of the package. */
function isPublished(source: string, { files }: Manifest): boolean {
  return source.startsWith(`./${SOURCES}/`) || files.includes(source.slice("./".length));
}

function compiledTarget(source: string): Target {
  if (!source.endsWith(".ts")) return source;
  const stem = source.replace("./src/", "./").replace(/\.ts$/, "");
  return { types: `${stem}.d.ts`, default: `${stem}.js` };
}
