import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { runToolOn } from "./runToolOn.ts";

// A checker that reads no files passes silently. So each one runs, with the options of `npm run check`, on a project
// without a violation and on the same project with one.

const ROOT = new URL("../..", import.meta.url).pathname;
const LINT = ["oxlint", "--type-aware", "--deny-warnings"] as const;
const FORMAT = ["oxfmt", "--check"] as const;
const TYPES = ["tsc", "--noEmit"] as const;
const DEAD_CODE = ["knip", "--include", "files,exports", "--no-config-hints"] as const;

const MAIN = "src/main.ts";
const USED = "src/kernel/used.ts";
const CLEAN_FILES = {
  [MAIN]: 'import { later } from "./kernel/used.ts";\n\nawait later();\n',
  [USED]: "export async function later(): Promise<void> {\n  await Promise.resolve();\n}\n",
};

/** Each entry has a tool, a file with a violation, and the expected output. */
const VIOLATIONS = [
  { tool: LINT, path: MAIN, text: CLEAN_FILES[MAIN].replace("await ", ""), expected: /no-floating-promises/ },
  { tool: LINT, path: MAIN, text: `${CLEAN_FILES[MAIN]}\n[1].forEach(later);\n`, expected: /no-misused-promises/ },
  { tool: LINT, path: MAIN, text: `${CLEAN_FILES[MAIN]}\nawait 5;\n`, expected: /await-thenable/ },
  { tool: LINT, path: "src/a.ts", text: "export const a = (b: any) => String(b);\n", expected: /no-explicit-any/ },
  {
    tool: LINT,
    path: "src/a.ts",
    text: "export const a = (b: number[]) => b[0]!;\n",
    expected: /no-non-null-assertion/,
  },
  { tool: LINT, path: "src/a.ts", text: "export default 1;\n", expected: /no-default-export/ },
  {
    tool: LINT,
    path: "src/a.ts",
    text: "export const a = (b: 1, c: 1, d: 1, e: 1) => b + c + d + e;\n",
    expected: /max-params/,
  },
  {
    tool: LINT,
    path: "src/a.ts",
    text: `export function a() {\n${"  console.log();\n".repeat(70)}}\n`,
    expected: /max-lines-per-f/,
  },
  { tool: LINT, path: "src/a.ts", text: "console.log();\n".repeat(401), expected: /max-lines/ },
  { tool: LINT, path: "src/a.ts", text: 'export * from "./main.ts";\n', expected: /no-barrel-file/ },
  { tool: FORMAT, path: USED, text: "export const a = {b:1}\n", expected: /src\/kernel\/used\.ts/ },
  { tool: TYPES, path: USED, text: "export enum A {\n  b,\n}\n", expected: /erasableSyntaxOnly/ },
  { tool: TYPES, path: USED, text: "export const a = (b: number[]): number => b[0];\n", expected: /TS2322/ },
  {
    tool: TYPES,
    path: USED,
    text: "export const a: { b?: 1 } = { b: undefined };\n",
    expected: /exactOptionalPropertyTypes/,
  },
  {
    tool: DEAD_CODE,
    path: USED,
    text: `${CLEAN_FILES[USED]}\nexport const unused = 1;\n`,
    expected: /unused.*src\/kernel\/used\.ts/,
  },
  { tool: DEAD_CODE, path: "src/kernel/nobody.ts", text: "export const a = 1;\n", expected: /src\/kernel\/nobody\.ts/ },
];

for (const tool of [LINT, FORMAT, TYPES, DEAD_CODE]) {
  test(`tools: ${tool[0]} accepts a project without a violation`, () => {
    const outcome = runToolOn(CLEAN_FILES, tool);
    assert.ok(outcome.passed, outcome.output);
  });
}

for (const { tool, path, text, expected } of VIOLATIONS) {
  test(`tools: ${tool[0]} refuses ${expected.source}`, () => {
    const outcome = runToolOn({ ...CLEAN_FILES, [path]: text }, tool);
    assert.ok(!outcome.passed, `${tool[0]} accepted this:\n${text}`);
    assert.match(outcome.output, expected);
  });
}

test("tools: npm run check runs the tools with the options tested here", () => {
  const { scripts } = JSON.parse(readFileSync(new URL("../../package.json", import.meta.url), "utf8"));
  assert.equal(scripts.lint, LINT.join(" "));
  assert.equal(scripts["format:check"], FORMAT.join(" "));
  assert.equal(scripts.types, TYPES.join(" "));
  assert.equal(scripts.deadcode, "knip");
});

const isGitAbsent = spawnSync("git", ["rev-parse", "--is-inside-work-tree"], { cwd: ROOT }).status !== 0;

test("git ignores packed packages and what a build writes", { skip: isGitAbsent && "no git checkout" }, () => {
  const files = [
    "tributary-client-0.1.0.tgz",
    "packages/inbox/dist/tributary-inbox-0.1.0.tgz",
    ".tributary/run",
    "a.log",
  ];
  const { stdout } = spawnSync("git", ["check-ignore", "--no-index", ...files, "README.md"], {
    cwd: ROOT,
    encoding: "utf8",
  });
  assert.deepEqual(stdout.trim().split("\n"), files);
});
