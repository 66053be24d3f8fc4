import { spawnSync } from "node:child_process";
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const CONFIGURATION = ["tsconfig.json", ".oxlintrc.json", ".oxfmtrc.json", "knip.json"];
const PACKAGE = '{\n  "name": "plant",\n  "private": true,\n  "type": "module"\n}\n';
const RUN_MS_MAX = 180_000;

export type Outcome = { readonly passed: boolean; readonly output: string };

/** Runs a tool with this project's configuration on a small project of the given files. */
export function runToolOn(files: Readonly<Record<string, string>>, command: readonly [string, ...string[]]): Outcome {
  const folder = mkdtempSync(join(tmpdir(), "tributary-plant-"));
  try {
    for (const name of CONFIGURATION) copyFileSync(join(ROOT, name), join(folder, name));
    symlinkSync(join(ROOT, "node_modules"), join(folder, "node_modules"));
    writeFileSync(join(folder, "package.json"), PACKAGE);
    for (const [path, text] of Object.entries(files)) {
      mkdirSync(dirname(join(folder, path)), { recursive: true });
      writeFileSync(join(folder, path), text);
    }
    const [tool, ...options] = command;
    // The tools are Node scripts; this process's Node runs them instead of the first on the PATH.
    const run = spawnSync(process.execPath, [join(ROOT, "node_modules/.bin", tool), ...options], {
      cwd: folder,
      encoding: "utf8",
      timeout: RUN_MS_MAX,
    });
    return { passed: run.status === 0, output: `${run.stdout}${run.stderr}` };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
