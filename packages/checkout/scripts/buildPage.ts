import { readFile, writeFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { build, transform, type Plugin } from "esbuild";

// Builds the page's script, its first lines and its style sheet. The results are checked in, so that a service starts
// without a build and without development dependencies; a test compares them with a fresh build.

const packagePath = (path: string) => fileURLToPath(new URL(`../${path}`, import.meta.url));

export type PageBuild = { readonly [file: string]: string };

/** The built files by their names. */
export async function buildPage(): Promise<PageBuild> {
  const [script, solana, boot, css] = await Promise.all([
    bundle("page/main.ts", "esm"),
    bundle("page/solana/part.ts", "esm"),
    bundle("page/boot.ts", "iife"),
    bundleStyles(),
  ]);
  return {
    "page.generated.js": script,
    "solana.generated.js": solana,
    "boot.generated.js": boot,
    "page.generated.css": css,
  };
}

/**
 * The page compares an inbox with the root of its routes, and the merchant's own check reads the routes. So the page
 * carries no tables of bridges; what would need them is refused.
 */
const WITHOUT_ROUTES: Plugin = {
  name: "without routes",
  setup(run) {
    const contents = "export const verifyRoutes = () => ({ ok: false });";
    run.onLoad({ filter: /inbox[/]src[/]verifyRoutes[.]ts$/ }, () => ({ contents, loader: "js" }));
  },
};

async function bundle(entry: string, format: "esm" | "iife"): Promise<string> {
  const built = await build({
    entryPoints: [packagePath(entry)],
    absWorkingDir: packagePath("."),
    bundle: true,
    write: false,
    format,
    minify: true,
    target: "es2022",
    charset: "utf8",
    legalComments: "none",
    plugins: [WITHOUT_ROUTES],
  });
  const [script] = built.outputFiles;
  if (script === undefined) throw new Error(`the bundle of ${entry} is empty`);
  return script.text.trimEnd();
}

async function bundleStyles(): Promise<string> {
  const read = (name: string) => readFile(packagePath(`styles/${name}.css`), "utf8");
  const [tokens, layout, print] = await Promise.all([read("tokens"), read("checkout"), read("print")]);
  // The style sheet is inline: a closing tag in it would end it.
  const { code } = await transform(`${tokens}\n${layout}\n@media print {\n${print}\n}\n@page { margin: 18mm }`, {
    loader: "css",
    minify: true,
  });
  return code.trimEnd();
}

if (import.meta.main) {
  const built = await buildPage();
  await Promise.all(Object.entries(built).map(([name, content]) => writeFile(packagePath(name), `${content}\n`)));
}
