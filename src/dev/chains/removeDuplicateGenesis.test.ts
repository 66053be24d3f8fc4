import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { removeDuplicateGenesis } from "./removeDuplicateGenesis.ts";

test("only the oldest genesis block stays, and all other state is unchanged", (t) => {
  const directory = mkdtempSync(join(tmpdir(), "tributary-state-"));
  t.after(() => rmSync(directory, { recursive: true }));
  const path = join(directory, "state.json");
  const block = (number: string, timestamp: string) => ({ header: { number, timestamp } });
  const [late, one, own] = [block("0x0", "0x20"), block("0x1", "0x11"), block("0x0", "0x10")];
  writeFileSync(path, JSON.stringify({ best: "0x1", blocks: [late, one, own], accounts: {} }));
  removeDuplicateGenesis(path);
  assert.deepEqual(JSON.parse(readFileSync(path, "utf8")), { best: "0x1", blocks: [one, own], accounts: {} });
});
