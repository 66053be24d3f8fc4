import { execFile } from "node:child_process";
import process from "node:process";
import { fileURLToPath } from "node:url";
import type { plantedBugs } from "./plantedBugs.ts";

/** Not the line of a file, which also fails when it does not load. */
const FAILED_TEST = /^\s*✖ (?!.*\.test\.ts)(.+) \(\d+\.?\d*ms\)$/m;

const root = fileURLToPath(new URL("../../", import.meta.url));

/** Plants a bug in a process of its own, and runs the test that must find it. Undefined when the test passes. */
export function findByTest({ name, test }: Pick<(typeof plantedBugs)[number], "name" | "test">) {
  const parameters = ["--import", "./test/plantedBugs/plantBug.ts", "--test", "--test-isolation=none", test];
  const environment = { ...process.env, TRIBUTARY_PLANTED_BUG: name };
  return new Promise<string | undefined>((resolve) => {
    execFile(process.execPath, parameters, { cwd: root, env: environment, maxBuffer: 2 ** 26 }, (error, stdout) => {
      const failed = error === null ? undefined : FAILED_TEST.exec(stdout)?.[1];
      resolve(failed === undefined ? undefined : `test ${test}: ${failed}`);
    });
  });
}
