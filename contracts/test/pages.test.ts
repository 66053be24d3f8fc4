import assert from "node:assert/strict";
import { access, readFile, readdir } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { hubAbi } from "@tributary/inbox/hubAbi";
import { contractsDirectory } from "../scripts/forge.ts";

const functions = hubAbi.flatMap((item) => (item.type === "function" && !/^[A-Z]/.test(item.name) ? [item.name] : []));

test("every hub function has a page and a test file", async () => {
  assert.ok(functions.length >= 7);
  for (const name of functions) {
    const title = `${name.charAt(0).toUpperCase()}${name.slice(1)}`;
    const page = await readFile(join(contractsDirectory, "docs", `${title}.md`), "utf8");
    assert.ok(page.startsWith(`# ${name}(`), `${title}.md begins with the function's name`);
    await access(join(contractsDirectory, "test", `${title}.t.sol`));
  }
});

test("a page names every error and event of the hub", async () => {
  const directory = join(contractsDirectory, "docs");
  const names = await readdir(directory);
  const pages = (await Promise.all(names.map((name) => readFile(join(directory, name), "utf8")))).join("\n");
  const known = hubAbi.flatMap((item) => (item.type === "error" || item.type === "event" ? [item.name] : []));
  assert.ok(known.length > 20);
  // Only an inbox throws NotHub, for callers other than the hub.
  const missing = known.filter((name) => name !== "NotHub" && !pages.includes(name));
  assert.deepEqual(missing, []);
});
