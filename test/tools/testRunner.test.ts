import assert from "node:assert/strict";
import { spawn, spawnSync, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import process from "node:process";
import { createInterface } from "node:readline";
import { after, describe, test } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath } from "node:url";

// Runs `npm test` on small projects: it runs every file, names failures and succeeds only when every test passed.

const repository = fileURLToPath(new URL("../../", import.meta.url));
const folders: string[] = [];
const PASSING = `import { test } from "node:test";\ntest("passes", () => undefined);\n`;
const FAILING = `import { test } from "node:test";\ntest("falls", () => { throw new Error("no"); });\n`;
/** Neither its process nor its service ends by itself. The service ignores signals, as a busy one may. */
const STARTS_A_SERVICE = `import { spawn } from "node:child_process";\nimport { test } from "node:test";
test("waits", async () => {
  const script = "process.on('SIGTERM', () => 0); process.on('SIGINT', () => 0); setInterval(() => 0, 1000); console.log('started');";
  const service = spawn(process.execPath, ["-e", script], { stdio: ["ignore", "pipe", "inherit"] });
  await new Promise((resolve) => service.stdout.once("data", resolve));
  console.log(\`pids \${process.pid} \${service.pid} .\`);
  await new Promise((resolve) => setTimeout(resolve, 60_000));
});\n`;
const POLLS_MAX = 2_400;
const POLL_MS = 50;

function createProject(
  files: Readonly<Record<string, string>>,
  groups = `{ name: "all", files: ["a/**"], isShared: true }`,
): string {
  const root = mkdtempSync(join(tmpdir(), "tributary-runner-"));
  folders.push(root);
  for (const path of ["scripts/test.ts", "scripts/tests"])
    cpSync(join(repository, path), join(root, path), { recursive: true });
  const setup = `export const TEST_RUN = { groups: [${groups}], slowSeconds: {} };\n`;
  for (const [path, text] of Object.entries({
    "package.json": `{ "type": "module" }`,
    "test/testGroups.ts": setup,
    ...files,
  })) {
    mkdirSync(join(root, dirname(path)), { recursive: true });
    writeFileSync(join(root, path), text);
  }
  return root;
}

function runTests(root: string, ...args: string[]): { status: number | null; lines: string[]; output: string } {
  const { status, stdout, stderr } = spawnSync(process.execPath, ["scripts/test.ts", ...args], {
    cwd: root,
    encoding: "utf8",
  });
  return { status, lines: stdout.trimEnd().split("\n"), output: stdout + stderr };
}

describe("npm test", () => {
  after(() => folders.forEach((folder) => rmSync(folder, { recursive: true, force: true })));

  test("prints the sums of all processes' counts in its last lines", () => {
    const groups = `{ name: "shared", files: ["a/**"], isShared: true }, { name: "alone", files: ["b/**"] }`;
    const root = createProject({ "a/1.test.ts": PASSING, "a/2.test.ts": PASSING, "b/3.test.ts": PASSING }, groups);
    const { status, lines } = runTests(root);
    assert.equal(status, 0);
    const counts = ["tests 3", "suites 0", "pass 3", "fail 0", "cancelled 0", "skipped 0", "todo 0"];
    assert.deepEqual(
      lines.slice(-8, -1),
      counts.map((line) => `ℹ ${line}`),
    );
    assert.match(lines.at(-1) ?? "", /^ℹ duration_ms \d+$/);
    assert.equal(lines.filter((line) => line.startsWith("ℹ tests")).length, 1);
  });

  test("names the failed file and test, even in a shared process", () => {
    const { status, output, lines } = runTests(createProject({ "a/1.test.ts": PASSING, "a/2.test.ts": FAILING }));
    assert.equal(status, 1);
    assert.match(output, /^✖ a\/2\.test\.ts: falls$/m);
    assert.ok(lines.includes("ℹ fail 1") && lines.includes("ℹ pass 1"), output);
  });

  test("the summary shows the error of a failed test", () => {
    const { lines } = runTests(createProject({ "a/2.test.ts": FAILING }));
    const summary = lines.slice(lines.indexOf("== failed"));
    assert.match(summary.join("\n"), /✖ a\/2\.test\.ts: falls\n +Error: no\n +at .*a\/2\.test\.ts:2/);
  });

  test("with --again, a file that fails once passes and its first error is told", () => {
    const once = `import { existsSync, writeFileSync } from "node:fs";\nimport { test } from "node:test";
test("falls once", () => { if (existsSync("ran")) return; writeFileSync("ran", ""); throw new Error("no"); });\n`;
    const root = createProject({ "a/1.test.ts": PASSING, "a/2.test.ts": once });
    const { status, lines, output } = runTests(root, "--again");
    assert.equal(status, 0, output);
    const told = lines.indexOf("== failed at first, and passed alone: find out why");
    assert.deepEqual(lines.slice(told + 1, told + 3), ["✖ a/2.test.ts: falls once", "    Error: no"]);
    assert.ok(lines.includes("ℹ tests 2") && lines.includes("ℹ fail 0"), output);
    rmSync(join(root, "ran"));
    assert.equal(runTests(root).status, 1);
  });

  test("with --again, what fails twice fails, and so does a process that ends early twice", () => {
    for (const text of [FAILING, `${PASSING}test("ends", () => process.kill(process.pid, "SIGKILL"));\n`]) {
      const { status, lines, output } = runTests(
        createProject({ "a/1.test.ts": PASSING, "a/2.test.ts": text }),
        "--again",
      );
      assert.equal(status, 1, output);
      assert.ok(lines.includes("== failed") && !lines.includes("ℹ fail 0"), output);
    }
  });

  const broken: Record<string, [text: string, problem: RegExp]> = {
    "does not load": ["throw new Error('broken');\n", /a\/2\.test\.ts failed outside of its tests/],
    "has no test": ["export {};\n", /a\/2\.test\.ts has no test/],
    "leaves an error uncaught": [
      `${PASSING}test("leaks", async () => { setTimeout(() => { throw new Error("late"); }, 0);
  await new Promise((resolve) => setTimeout(resolve, 20)); });\n`,
      /uncaught during "leaks": Error: late/,
    ],
    "ends the process with success": [`${PASSING}test("ends", () => process.exit(0));\n`, /did not run to its end/],
    "kills the process": [
      `${PASSING}test("ends", () => process.kill(process.pid, "SIGKILL"));\n`,
      /ended early, with SIGKILL/,
    ],
  };
  for (const [behaviour, [text, problem]] of Object.entries(broken)) {
    test(`fails when a file ${behaviour}`, () => {
      const { status, output, lines } = runTests(createProject({ "a/1.test.ts": PASSING, "a/2.test.ts": text }));
      assert.equal(status, 1, output);
      assert.match(output, problem);
      assert.ok(!lines.includes("ℹ fail 0"), output);
    });
  }

  test("fails for a file without a group, a group without a file, and a path without a file", () => {
    const forgotten = runTests(createProject({ "a/1.test.ts": PASSING, "b/2.test.ts": PASSING }));
    assert.deepEqual([forgotten.status, forgotten.output], [1, "No group of test/testGroups.ts has b/2.test.ts.\n"]);
    const empty = runTests(
      createProject({ "b/1.test.ts": PASSING }, `{ name: "b", files: ["b/**"] }, { name: "c", files: ["c/**"] }`),
    );
    assert.match(empty.output, /have no file: c\./);
    const root = createProject({ "a/1.test.ts": PASSING });
    assert.deepEqual([runTests(root, "nowhere").status, runTests(root, "--test-name-pattern=nothing").status], [1, 1]);
  });

  test("runs a file of the deep tests only when a path selects it", () => {
    const groups = `{ name: "all", files: ["a/**"], isShared: true }], deepFiles: { "a/2.test.ts": 9 }, more: [`;
    const root = createProject({ "a/1.test.ts": PASSING, "a/2.test.ts": FAILING }, groups);
    assert.deepEqual([runTests(root).status, runTests(root, "a").status], [0, 1]);
    rmSync(join(root, "a/2.test.ts"));
    assert.match(runTests(root).output, /^test\/deepFiles\.ts names no file: a\/2\.test\.ts\.$/m);
  });

  test("runs only the given files and test names", () => {
    const root = createProject({ "a/1.test.ts": PASSING, "a/2.test.ts": FAILING, "a/b/3.test.ts": PASSING });
    for (const path of ["a/1.test.ts", "a/b", "a/b/*.test.ts", "./a/b/"])
      assert.equal(runTests(root, path).status, 0, path);
    const { status, lines } = runTests(root, "--test-name-pattern=passes");
    assert.deepEqual([status, lines.includes("ℹ tests 2")], [0, true]);
  });

  test("hooks of one file do not run for other files of a shared process", () => {
    const hooked = `import assert from "node:assert/strict";\nimport { beforeEach, test } from "node:test";
let calls = 0;\nbeforeEach(() => { calls += 1; });\ntest("one call", () => assert.equal(calls, 1));\n`;
    assert.equal(
      runTests(createProject({ "a/1.test.ts": hooked, "a/2.test.ts": hooked, "a/3.test.ts": PASSING })).status,
      0,
    );
  });

  test("files that wait for the same module keep their own tests", () => {
    const slow = `await new Promise((resolve) => setTimeout(resolve, 20));\n`;
    const waiting = `import "./slow.ts";\n${PASSING}`;
    const { status, output } = runTests(
      createProject({ "a/slow.ts": slow, "a/1.test.ts": waiting, "a/2.test.ts": waiting, "a/3.test.ts": PASSING }),
    );
    assert.equal(status, 0, output);
    assert.equal(output.match(/^▶ a\/\d\.test\.ts$/gm)?.length, 3, output);
  });

  const ends: Record<string, (runner: ChildProcess) => boolean> = {
    "kill -9": (runner) => runner.kill("SIGKILL"),
    SIGTERM: (runner) => runner.kill("SIGTERM"),
    "Ctrl-C": (runner) => runner.kill("SIGINT"),
  };
  for (const [name, end] of Object.entries(ends)) {
    test(`${name} half-way leaves neither a test process nor what it has started`, async () => {
      const root = createProject({ "a/1.test.ts": STARTS_A_SERVICE });
      const runner = spawn(process.execPath, ["scripts/test.ts"], { cwd: root, stdio: ["ignore", "pipe", "inherit"] });
      const pids = await startedPids(runner);
      end(runner);
      await once(runner, "exit");
      await assertEnded(pids);
    });
  }

  test("kill -9 of npm ends the run", async () => {
    const root = createProject({
      "a/1.test.ts": STARTS_A_SERVICE,
      "package.json": `{ "type": "module", "scripts": { "test": "exec node scripts/test.ts" } }`,
    });
    const npm = spawn("npm", ["test"], { cwd: root, stdio: ["ignore", "pipe", "inherit"] });
    const pids = await startedPids(npm);
    npm.kill("SIGKILL");
    await once(npm, "exit");
    await assertEnded(pids);
  });

  test("a test process that ends leaves nothing of what it has started", async () => {
    const ending = STARTS_A_SERVICE.replace(/await .*60_000.*/, "process.exit(1);");
    const root = createProject({ "a/1.test.ts": ending });
    const runner = spawn(process.execPath, ["scripts/test.ts"], { cwd: root, stdio: ["ignore", "pipe", "inherit"] });
    const pids = await startedPids(runner);
    await once(runner, "exit");
    await assertEnded(pids);
  });
});

/** The processes that the run reports once its service has started. */
async function startedPids({ stdout }: ChildProcess): Promise<number[]> {
  if (stdout === null) throw new Error("the run has no piped output");
  for await (const line of createInterface({ input: stdout })) {
    const [, ...pids] = /pids (\d+) (\d+) \./.exec(line) ?? [];
    if (pids.length === 2) return pids.map(Number);
  }
  throw new Error("the run ended before its test began");
}

async function assertEnded(pids: readonly number[]): Promise<void> {
  for (let polls = 0; pids.some(isRunning) && polls < POLLS_MAX; polls += 1) await delay(POLL_MS);
  assert.deepEqual(pids.filter(isRunning), [], "these processes are still there");
}

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}
