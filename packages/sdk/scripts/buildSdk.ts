import { writeFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { build, type Plugin } from "esbuild";

// Builds the scripts that the service serves. The results are checked in, so that a service starts without a build; a
// test compares them with a fresh build.

const packagePath = (path: string) => fileURLToPath(new URL(`../${path}`, import.meta.url));

/** The built files by their names. */
export async function buildSdk(): Promise<Readonly<Record<string, string>>> {
  const [module, script, element] = await Promise.all([
    bundle("served/module.ts", "esm"),
    bundle("served/script.ts", "iife"),
    bundle("served/element.ts", "esm", [SHARED_MODULE]),
  ]);
  return { "v1.generated.js": module, "v1.global.generated.js": script, "v1.element.generated.js": element };
}

/** The element imports the served module, so that both share what is mounted. */
const SHARED_MODULE: Plugin = {
  name: "shared module",
  setup(run) {
    run.onResolve({ filter: /\/mount\.ts$/ }, () => ({ path: "./v1.js", external: true }));
  },
};

async function bundle(entry: string, format: "esm" | "iife", plugins: Plugin[] = []): Promise<string> {
  const built = await build({
    entryPoints: [packagePath(entry)],
    absWorkingDir: packagePath("."),
    bundle: true,
    write: false,
    format,
    minify: true,
    plugins,
    target: "es2022",
    charset: "utf8",
    legalComments: "none",
    // Nothing here differs in strict mode, so the script for pages without modules need not ask for it.
    tsconfigRaw: { compilerOptions: { alwaysStrict: false, strict: false } },
  });
  const [output] = built.outputFiles;
  if (output === undefined) throw new Error(`the bundle of ${entry} is empty`);
  return output.text.trimEnd();
}

if (import.meta.main)
  for (const [name, content] of Object.entries(await buildSdk())) await writeFile(packagePath(name), `${content}\n`);
