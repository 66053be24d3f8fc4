import { createHash } from "node:crypto";
import { readFile, writeFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { hubs } from "@tributary/inbox/hubs";
import { placeholderProgram } from "@tributary/inbox/solana/program";
import { build } from "esbuild";

// Builds the page as one file that people can keep for years: without dependencies, and with a policy that forbids them
// and every connection but those to Circle's attestation service and to the RPC URL of Solana that the person names:
// encrypted ones, and this computer. The file is checked in, and a test compares it with a fresh build. The code is not
// minified, so that people can audit it.

const packagePath = (path: string) => fileURLToPath(new URL(`../${path}`, import.meta.url));

/**
 * The page cannot know the host of the RPC URL, and a policy cannot be widened later. `https:` contains Circle's
 * service.
 */
const CONNECTIONS = ["https:", "http://localhost:*", "http://127.0.0.1:*"];

export const PAGE_PATH = packagePath("recover.html");

export async function buildPage(): Promise<string> {
  const [template, style, script, notice] = await Promise.all([
    readFile(packagePath("page/page.html"), "utf8"),
    readFile(packagePath("page/page.css"), "utf8"),
    bundleScript(),
    readFile(packagePath("../../NOTICE"), "utf8"),
  ]);
  const policy = `default-src 'none'; script-src '${cspHash(script)}'; style-src '${cspHash(style)}'; connect-src ${CONNECTIONS.join(" ")}; base-uri 'none'; form-action 'none'`;
  return template
    .replace("NOTICE", () => notice.trimEnd())
    .replace("POLICY", policy)
    .replace("HUBS", hubs.map(({ address }) => `<code>${address}</code>`).join(" and "))
    .replace("PROGRAM", `<code>${placeholderProgram}</code>`)
    .replace("<style></style>", () => `<style>${style}</style>`)
    .replace("<script></script>", () => `<script>${script}</script>`);
}

async function bundleScript(): Promise<string> {
  const built = await build({
    entryPoints: [packagePath("page/main.ts")],
    absWorkingDir: packagePath("."),
    bundle: true,
    write: false,
    format: "iife",
    target: "es2022",
    charset: "utf8",
    legalComments: "inline",
  });
  const [script] = built.outputFiles;
  if (script === undefined) throw new Error("the bundle is empty");
  return `\n${script.text}`;
}

function cspHash(text: string): string {
  return `sha256-${createHash("sha256").update(text).digest("base64")}`;
}

if (import.meta.main) await writeFile(PAGE_PATH, await buildPage());
