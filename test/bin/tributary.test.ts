import assert from "node:assert/strict";
import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import process from "node:process";
import { test, type TestContext } from "node:test";
import { text } from "node:stream/consumers";
import { createStub } from "./createStub.ts";

/** Starts the stub; its standard output and error are collected, and it is gone when the test is. */
function start(t: TestContext, main: string, options: { pinned: boolean; args?: string[] } = { pinned: true }) {
  const stub = createStub(main, options);
  const child = spawn(process.execPath, [stub.bin, ...(options.args ?? [])], { stdio: ["pipe", "pipe", "pipe"] });
  t.after(() => {
    child.kill("SIGKILL");
    stub.remove();
  });
  return child;
}

async function endOf(child: ChildProcess): Promise<{ code: number | null; signal: NodeJS.Signals | null }> {
  await once(child, "close");
  return { code: child.exitCode, signal: child.signalCode };
}

/** Announces itself, then lives until it is told to end. */
const WAITS = `
process.on("SIGTERM", () => { console.log("drained"); process.exit(7); });
setInterval(() => undefined, 1000);
console.log(process.pid);
`;

test("bin: an older Node hands arguments, streams and the exit code to the pinned one", async (t) => {
  const main = `
for await (const piece of process.stdin) process.stdout.write(piece);
console.log(JSON.stringify([process.argv.slice(2), process.versions.node, process.env.TRIBUTARY_RESTARTED ?? "unset"]));
process.exitCode = 5;`;
  const child = start(t, main, { pinned: true, args: ["pay", "pi_1", "--amount", "2 3"] });
  child.stdin.end("from stdin\n");
  const [out, end] = await Promise.all([text(child.stdout), endOf(child)]);
  assert.deepEqual(out.split("\n"), ["from stdin", '[["pay","pi_1","--amount","2 3"],"999.0.0","unset"]', ""]);
  assert.deepEqual(end, { code: 5, signal: null });
});

test("bin: a command that has finished ends, although the channel to its parent is open", async (t) => {
  const child = start(t, "console.log('done')");
  const [out, end] = await Promise.all([text(child.stdout), endOf(child)]);
  assert.deepEqual([out, end.code], ["done\n", 0]);
});

test("bin: SIGTERM reaches the child, and its own exit code comes back", async (t) => {
  const child = start(t, WAITS);
  await once(child.stdout, "data");
  const ended = endOf(child);
  child.kill("SIGTERM");
  assert.deepEqual(await ended, { code: 7, signal: null });
});

test("bin: a child that a signal ended shows as ended by that signal", async (t) => {
  const child = start(t, "process.kill(process.pid, 'SIGKILL'); setInterval(() => undefined, 1000);");
  assert.deepEqual(await endOf(child), { code: null, signal: "SIGKILL" });
});

test("bin: the child drains and ends when its parent is killed", async (t) => {
  const child = start(t, WAITS);
  const [announced] = await once(child.stdout, "data");
  assert.match(String(announced), /^\d+\n$/);
  // The stream ends only when the child, which holds its other end too, is gone.
  const rest = text(child.stdout);
  child.kill("SIGKILL");
  assert.equal(await rest, "drained\n");
});

test("bin: a script's process drains and ends when the package manager that runs it is killed", async (t) => {
  const stub = createStub(WAITS, { pinned: true });
  const runs = `require("node:child_process").spawn(process.execPath, [process.argv[1]], { stdio: "inherit" });`;
  const runner = spawn(process.execPath, ["-e", runs, stub.bin], {
    stdio: ["ignore", "pipe", "inherit"],
    env: { ...process.env, npm_lifecycle_event: "start" },
  });
  t.after(() => {
    runner.kill("SIGKILL");
    stub.remove();
  });
  await once(runner.stdout, "data");
  const rest = text(runner.stdout);
  runner.kill("SIGKILL");
  assert.equal(await rest, "drained\n");
});

test("bin: without a pinned Node it says what is needed and fails", async (t) => {
  const child = start(t, "console.log('never')", { pinned: false });
  const [out, problem, end] = await Promise.all([text(child.stdout), text(child.stderr), endOf(child)]);
  assert.equal(out, "");
  assert.match(problem, /needs Node 999\.0 or newer/);
  assert.equal(end.code, 1);
});
