import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("../../", import.meta.url));
const settings = join(root, "contracts", ".solhint.json");

/** Runs the linter on files of a directory. */
function lint(cwd: string, files: string): Promise<{ exitCode: number; report: string }> {
  const linter = join(root, "node_modules", "solhint", "solhint.js");
  const parameters = [linter, "--disc", "--noPoster", "--config", settings, "--max-warnings", "0", files];
  return new Promise((resolve) => {
    execFile(process.execPath, parameters, { cwd }, (error, stdout, stderr) => {
      resolve({ exitCode: typeof error?.code === "number" ? error.code : 0, report: stdout + stderr });
    });
  });
}

test("the linter accepts the contracts", async () => {
  const { exitCode, report } = await lint(root, "contracts/src/*.sol");
  assert.equal(exitCode, 0, report);
});

test("the linter refuses a contract with a violation", async () => {
  const directory = await mkdtemp(join(tmpdir(), "tributary-solhint-"));
  const source =
    "// SPDX-License-Identifier: MIT\npragma solidity 0.8.30;\ncontract A { function a() external view returns (bool) { return tx.origin == msg.sender; } }\n";
  await writeFile(join(directory, "A.sol"), source);
  const { exitCode, report } = await lint(directory, "A.sol");
  await rm(directory, { recursive: true });
  assert.notEqual(exitCode, 0);
  assert.match(report, /avoid-tx-origin/);
});
