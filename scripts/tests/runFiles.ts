import { join } from "node:path";
import process from "node:process";
import { suite } from "node:test";
import { pathToFileURL } from "node:url";

// What a process of a test run starts with: each file becomes a suite of its own, so that its hooks stay its own and a
// failure names it. The runner's pipe closes when the runner ends, kill -9 included; then this process ends as well.

export type FilesToRun = { root: string; files: readonly string[]; preload: readonly string[] };
export const FILES_VARIABLE = "TRIBUTARY_TEST_FILES";

const { root, files, preload } = JSON.parse(process.env[FILES_VARIABLE] ?? "{}") as FilesToRun;
delete process.env[FILES_VARIABLE];

// A process that a test forks is no test run: it gets none of this one's options.
process.execArgv.splice(0);

process.stdin.once("close", () => process.exit(1)).resume();
(process.stdin as { unref?: () => void }).unref?.();

for (const module of preload) await import(urlOf(module));
for (const file of files) suite(file, { timeout: Infinity }, () => import(urlOf(file)).then(() => undefined));

function urlOf(file: string): string {
  return pathToFileURL(join(root, file)).href;
}
