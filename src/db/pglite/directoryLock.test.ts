import assert from "node:assert/strict";
import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { after, describe, test } from "node:test";
import { DirectoryInUse, lockDirectory } from "./directoryLock.ts";

const lockModule = new URL("directoryLock.ts", import.meta.url).href;

function newDirectory(): string {
  const directory = mkdtempSync(join(tmpdir(), "tributary-lock-"));
  after(() => rmSync(directory, { recursive: true, force: true }));
  return directory;
}

/** Starts a process that takes the lock and holds it until it ends. */
async function startLockingProcess(directory: string): Promise<ChildProcess> {
  const program = `
    import { lockDirectory } from ${JSON.stringify(lockModule)};
    globalThis.held = lockDirectory(${JSON.stringify(directory)});
    console.log("held");
    process.stdin.resume();
  `;
  const holder = spawn(process.execPath, ["--input-type=module", "-e", program], {
    stdio: ["pipe", "pipe", "inherit"],
  });
  after(() => holder.kill("SIGKILL"));
  await once(holder.stdout, "data");
  return holder;
}

describe("the lock of a database directory", () => {
  test("a second process is refused within a second, and the error names the first", async () => {
    const directory = newDirectory();
    const holder = await startLockingProcess(directory);
    // Processor time, because a busy machine stretches the other. The call is synchronous.
    const started = process.cpuUsage();
    assert.throws(
      () => lockDirectory(directory),
      (error) =>
        error instanceof DirectoryInUse &&
        error.message.includes(`process ${holder.pid}`) &&
        error.message.includes(directory),
    );
    assert.ok(process.cpuUsage(started).user < 1_000_000);
  });

  test("a refused attempt leaves the lock with its holder", async () => {
    const directory = newDirectory();
    await startLockingProcess(directory);
    for (let tries = 0; tries < 3; tries++) assert.throws(() => lockDirectory(directory), DirectoryInUse);
  });

  test("kill -9 of the holder releases it", async () => {
    const directory = newDirectory();
    const holder = await startLockingProcess(directory);
    holder.kill("SIGKILL");
    await once(holder, "exit");
    lockDirectory(directory).release();
  });

  test("a process cannot take it twice, and can take it again after releasing it", () => {
    const directory = join(newDirectory(), "made", "on the way");
    const lock = lockDirectory(directory);
    assert.throws(() => lockDirectory(directory), DirectoryInUse);
    lock.release();
    lock.release();
    assert.ok(!existsSync(join(directory, "lock.pid")));
    lockDirectory(directory).release();
  });
});
