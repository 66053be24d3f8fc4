import { readFile, writeFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { build, transform } from "esbuild";

// Builds the scripts and the style sheet of the pages. The results are checked in, so that a service starts without a
// build; a test compares them with a fresh build.

const packagePath = (path: string) => fileURLToPath(new URL(`../${path}`, import.meta.url));

/** The built files by their names. */
export async function buildPages(): Promise<Readonly<Record<string, string>>> {
  const [ops, keys, merchant, css] = await Promise.all([
    bundle("page/ops.ts"),
    bundle("page/keys.ts"),
    bundle("page/dashboard.ts"),
    bundleStyles(),
  ]);
  return {
    "ops.generated.js": ops,
    "keys.generated.js": keys,
    "dashboard.generated.js": merchant,
    "dashboard.generated.css": css,
  };
}

async function bundle(entry: string): Promise<string> {
  const built = await build({
    entryPoints: [packagePath(entry)],
    absWorkingDir: packagePath("."),
    bundle: true,
    write: false,
    format: "esm",
    minify: true,
    target: "es2022",
    charset: "utf8",
    legalComments: "none",
  });
  const [script] = built.outputFiles;
  if (script === undefined) throw new Error(`the bundle of ${entry} is empty`);
  return script.text.trimEnd();
}

async function bundleStyles(): Promise<string> {
  const files = [new URL(import.meta.resolve("@tributary/checkout/tokens.css")), packagePath("styles/dashboard.css")];
  const [tokens, layout] = await Promise.all(files.map((file) => readFile(file, "utf8")));
  const { code } = await transform(`${tokens}\n${layout}`, { loader: "css", minify: true });
  return code.trimEnd();
}

if (import.meta.main) {
  const built = await buildPages();
  await Promise.all(Object.entries(built).map(([name, content]) => writeFile(packagePath(name), `${content}\n`)));
}
