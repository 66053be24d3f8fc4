import assert from "node:assert/strict";
import { access, readFile, readdir } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { instructionTags } from "@tributary/inbox/solana/instructions";
import { programsDirectory } from "../scripts/compile.ts";

test("every instruction has a page and a test file", async () => {
  for (const [name, tag] of Object.entries(instructionTags)) {
    const page = await readFile(join(programsDirectory, "docs", `${name}.md`), "utf8");
    assert.ok(page.startsWith(`# ${name}\n`), `${name}.md begins with the instruction's name`);
    assert.ok(page.includes(`Tag ${tag}.`), `${name}.md names its tag`);
    await access(join(programsDirectory, "test", `${name}.test.ts`));
  }
});

test("the pages name every error of the program", async () => {
  const source = await readFile(join(programsDirectory, "src", "call.h"), "utf8");
  const errors = [...source.matchAll(/^ {4}ERROR_(?<name>\w+)/gm)].flatMap((match) => match.groups?.["name"] ?? []);
  assert.equal(errors.length, 20);
  const directory = join(programsDirectory, "docs");
  const pages = await Promise.all((await readdir(directory)).map((name) => readFile(join(directory, name), "utf8")));
  const text = pages.join("\n");
  assert.deepEqual(
    errors.filter((name) => !text.includes(`\`${name}\``)),
    [],
  );
});
