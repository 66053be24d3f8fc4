import assert from "node:assert/strict";
import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import process from "node:process";
import { test, type TestContext } from "node:test";
import { text } from "node:stream/consumers";
import { createStub } from "./createStub.ts";

/** Starts the stub with piped output, and removes it after the test. */
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

/** Prints its pid, then runs until SIGTERM. */
const WAITS = `
process.on("SIGTERM", () => { console.log("drained"); process.exit(7); });
setInterval(() => undefined, 1000);
console.log(process.pid);
`;

test("bin: an older Node passes arguments, streams and the exit code through to the pinned one", async (t) => {
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

test("bin: a finished command exits although the channel to its parent is open", async (t) => {
  const child = start(t, "console.log('done')");
  const [out, end] = await Promise.all([text(child.stdout), endOf(child)]);
  assert.deepEqual([out, end.code], ["done\n", 0]);
});

test("bin: SIGTERM reaches the child, and its exit code is returned", async (t) => {
  const child = start(t, WAITS);
  await once(child.stdout, "data");
  const ended = endOf(child);
  child.kill("SIGTERM");
  assert.deepEqual(await ended, { code: 7, signal: null });
});

test("bin: the parent ends by the signal that ended the child", async (t) => {
  const child = start(t, "process.kill(process.pid, 'SIGKILL'); setInterval(() => undefined, 1000);");
  assert.deepEqual(await endOf(child), { code: null, signal: "SIGKILL" });
});

test("bin: the child drains and exits when its parent is killed", async (t) => {
  const child = start(t, WAITS);
  const [announced] = await once(child.stdout, "data");
  assert.match(String(announced), /^\d+\n$/);
  // The stream ends only when the child exits, because the child also holds it open.
  const rest = text(child.stdout);
  child.kill("SIGKILL");
  assert.equal(await rest, "drained\n");
});

test("bin: a script's process drains and exits when its package manager is killed", async (t) => {
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

test("bin: without a pinned Node the bin prints the required version and fails", async (t) => {
  const child = start(t, "console.log('never')", { pinned: false });
  const [out, problem, end] = await Promise.all([text(child.stdout), text(child.stderr), endOf(child)]);
  assert.equal(out, "");
  assert.match(problem, /needs Node 999\.0 or newer/);
  assert.equal(end.code, 1);
});
