import { chmodSync, copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";

export type Stub = { readonly bin: string; readonly remove: () => void };

const BIN = new URL("../../bin/tributary.js", import.meta.url);

/**
 * Copies the real bin into its own folder and raises its required version, so that this Node is too old. The pinned
 * Node is this Node with version 999, so that every machine really restarts. `main` replaces the CLI.
 */
export function createStub(main: string, options: { pinned: boolean }): Stub {
  const root = mkdtempSync(join(tmpdir(), "tributary-bin-"));
  for (const folder of ["bin", "src/cli", "node_modules/node/bin"]) mkdirSync(join(root, folder), { recursive: true });
  const bin = join(root, "bin/tributary.js");
  copyFileSync(BIN, bin);
  writeFileSync(bin, readFileSync(bin, "utf8").replace("[24, 12]", "[999, 0]"));
  writeFileSync(join(root, "package.json"), '{"type":"module"}');
  writeFileSync(join(root, "src/cli/main.ts"), main);
  if (options.pinned) {
    const newer = join(root, "newer.mjs");
    writeFileSync(
      newer,
      "Object.defineProperty(process, 'versions', { value: { ...process.versions, node: '999.0.0' } });",
    );
    const node = join(root, "node_modules/node/bin/node");
    writeFileSync(node, `#!/bin/sh\nexec "${process.execPath}" --import "${newer}" "$@"\n`);
    chmodSync(node, 0o755);
  }
  return { bin, remove: () => rmSync(root, { recursive: true, force: true }) };
}
