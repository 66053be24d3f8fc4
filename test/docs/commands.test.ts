import assert from "node:assert/strict";
import { globSync, readFileSync } from "node:fs";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { renderCli } from "../support/cli.ts";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const PAGES = globSync(["README.md", "docs/**/*.md", "packages/*/README.md"], { cwd: ROOT }).filter(
  (page) => !page.includes("node_modules"),
);

/** The commands in blocks of shell code and in tables, each as its words. Comments and pipes are left out. */
function commandsOf(markdown: string): string[][] {
  const blocks = [...markdown.matchAll(/^ *```sh\n([\s\S]*?)^ *```/gm)].map(([, block = ""]) => block);
  const lines = blocks.flatMap((block) => block.replaceAll("\\\n", " ").split("\n"));
  const inline = [...markdown.matchAll(/`((?:npx )?tributary [^`]+)`/g)].map(([, code = ""]) => code);
  return [...lines, ...inline.filter((code) => code.startsWith("npx "))].flatMap((line) => {
    const [, command] = /(?:^|\s)(?:npx )?tributary ((?:[a-z]).*)$/.exec(line.split(/ #| \|/)[0] ?? "") ?? [];
    const words = command?.match(/"[^"]*"|'[^']*'|\S+/g);
    return words === undefined || words === null ? [] : [[...words]];
  });
}

test("every command in the pages exists, with each of its options", async () => {
  let count = 0;
  for (const page of PAGES)
    for (const words of commandsOf(readFileSync(`${ROOT}/${page}`, "utf8"))) {
      const { code, err } = await renderCli([...words.map((word) => word.replaceAll(/^["']|["']$/g, "")), "--help"]);
      assert.deepEqual([code, err], [0, ""], `${page}: tributary ${words.join(" ")}`);
      count += 1;
    }
  assert.ok(count > 30, `${count} commands`);
});
