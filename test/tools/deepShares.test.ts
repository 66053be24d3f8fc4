import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { chooseShare } from "../../scripts/tests/chooseShare.ts";
import { parseShare, partsOfShare } from "../../scripts/tests/deepParts.ts";
import { BENCHES } from "../bench/benches.ts";
import { DEEP_PARTS, SMALL_BENCHES } from "../deepParts.ts";

const SHARES = 32;
/** With two workers on an idle machine. */
const SHARE_SECONDS_MAX = 240;

test("the shares contain every part of the deep tests once, and each takes under four minutes", () => {
  const shares = Array.from({ length: SHARES }, (_, index) =>
    partsOfShare(DEEP_PARTS, { number: index + 1, of: SHARES }),
  );
  const names = shares.flat().map(({ name }) => name);
  assert.deepEqual(names.toSorted(), DEEP_PARTS.map(({ name }) => name).toSorted());
  assert.equal(new Set(names).size, names.length);
  for (const share of shares) assert.ok(share.reduce((sum, { seconds }) => sum + seconds, 0) / 2 < SHARE_SECONDS_MAX);
});

test("parseShare accepts only number/count", () => {
  assert.deepEqual(parseShare("3/8"), { number: 3, of: 8 });
  for (const text of ["0/8", "9/8", "3", "3/", "x/8", "03/8"]) assert.equal(parseShare(text), undefined, text);
});

test("consecutive commits choose every share; a shallow clone and a plain folder also choose one", () => {
  const root = mkdtempSync(join(tmpdir(), "tributary-share-"));
  const git = (...args: string[]) => {
    const identity = ["-c", "user.name=Test", "-c", "user.email=test@example.test"];
    const { status, stderr } = spawnSync("git", [...identity, ...args], { cwd: root, encoding: "utf8" });
    assert.equal(status, 0, stderr);
  };
  try {
    git("init", "-q", "one");
    const numbers = Array.from({ length: SHARES }, (_, index) => {
      git("-C", "one", "commit", "-q", "--allow-empty", "-m", `Commit ${index}`);
      return chooseShare(join(root, "one"), SHARES).number;
    });
    assert.deepEqual(new Set(numbers).size, SHARES);
    git("clone", "-q", "--depth", "1", `file://${join(root, "one")}`, "shallow");
    for (const [folder, nowMs] of [
      ["shallow", 0],
      ["", 0],
      ["", 86_400_000 * 7],
    ] as const) {
      const { number } = chooseShare(join(root, folder), SHARES, nowMs);
      assert.ok(number >= 1 && number <= SHARES, `${folder}: ${number}`);
    }
    assert.notEqual(chooseShare(root, SHARES, 0).number, chooseShare(root, SHARES, 86_400_000).number);
  } finally {
    rmSync(root, { recursive: true, force: true });
  }
});

test("every bench runs at its smallest size", () => {
  const small = new Set(SMALL_BENCHES.map(([name]) => name));
  assert.deepEqual(
    Object.keys(BENCHES).filter((name) => !small.has(name)),
    [],
  );
});
