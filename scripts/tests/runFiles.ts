import { join } from "node:path";
import process from "node:process";
import { suite } from "node:test";
import { pathToFileURL } from "node:url";

// The entry point of a test process. Each file becomes its own suite, so that hooks stay separate and failures name the file.
// The runner's pipe closes when the runner ends, kill -9 included; then this process ends as well.

export type FilesToRun = { root: string; files: readonly string[]; preload: readonly string[] };
export const FILES_VARIABLE = "TRIBUTARY_TEST_FILES";

const { root, files, preload } = JSON.parse(process.env[FILES_VARIABLE] ?? "{}") as FilesToRun;
delete process.env[FILES_VARIABLE];

// A process that a test forks is no test run, so it must not inherit these options.
process.execArgv.splice(0);

process.stdin.once("close", () => process.exit(1)).resume();
(process.stdin as { unref?: () => void }).unref?.();

for (const module of preload) await import(urlOf(module));
for (const file of files) suite(file, { timeout: Infinity }, () => import(urlOf(file)).then(() => undefined));

function urlOf(file: string): string {
  return pathToFileURL(join(root, file)).href;
}
