import { fileURLToPath } from "node:url";
import { build } from "esbuild";

/** Bundles a script of this folder for a page. */
export async function bundlePage(name: string): Promise<string> {
  const { outputFiles } = await build({
    entryPoints: [fileURLToPath(new URL(name, import.meta.url))],
    bundle: true,
    format: "iife",
    platform: "browser",
    define: { global: "globalThis", "process.env.NODE_ENV": '"production"' },
    write: false,
  });
  return outputFiles[0]?.text ?? "";
}
