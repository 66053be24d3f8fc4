#!/usr/bin/env node
// The entry point of the command line: `npx tributary …`, `npm start`, `node bin/tributary.js …`.
//
// Node runs the TypeScript sources directly, from the version below on. `npx` uses the first `node` on the path, which
// may be older. So this file is plain JavaScript: an older Node starts it again under the Node that package.json pins,
// and then only forwards signals and the exit code.
import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import module, { createRequire } from "node:module";
import { dirname, join } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";

const NODE_VERSION_MIN = [24, 12];
const RESTARTED_VARIABLE = "TRIBUTARY_RESTARTED";
const DRAIN_MS_MAX = 20_000;
const PARENT_POLL_MS = 500;

const thisFile = fileURLToPath(import.meta.url);
const restarted = process.env[RESTARTED_VARIABLE] === "1";
delete process.env[RESTARTED_VARIABLE];
if (!restarted && process.env["npm_lifecycle_event"] !== undefined) exitWithPackageManager(process.ppid);

if (isNewEnough(process.versions.node)) {
  // Compiled modules start a command in a third of the time. The folder belongs to whoever installed this package;
  // where it can't be written, nothing is cached.
  module.enableCompileCache(join(dirname(thisFile), "..", "node_modules", ".cache", "tributary", "code"));
  if (restarted) exitWithParent();
  await import("../src/cli/main.ts");
} else {
  const node = restarted ? undefined : findPinnedNode();
  if (node === undefined) {
    const required = NODE_VERSION_MIN.join(".");
    console.error(`Tributary needs Node ${required} or newer, and this is ${process.versions.node}.`);
    console.error("Run `npm ci` in its folder, which installs the pinned Node, or install a newer Node.");
    process.exitCode = 1;
  } else {
    restartWithNode(node);
  }
}

/** @param {string} version such as "24.12.0" */
function isNewEnough(version) {
  const [major = 0, minor = 0] = version.split(".").map(Number);
  const [majorMin = 0, minorMin = 0] = NODE_VERSION_MIN;
  return major > majorMin || (major === majorMin && minor >= minorMin);
}

/** Returns the path of the pinned Node in this package or its dependencies; undefined when it is not installed. */
function findPinnedNode() {
  const beside = join(dirname(thisFile), "..", "node_modules", "node", "bin", "node");
  if (existsSync(beside)) return beside;
  try {
    const manifest = createRequire(import.meta.url).resolve("node/package.json");
    const resolved = join(dirname(manifest), "bin", "node");
    return existsSync(resolved) ? resolved : undefined;
  } catch {
    return undefined;
  }
}

/**
 * Runs this file under another Node with the same arguments and streams. The IPC channel carries no message. It closes
 * when this process ends, even by `kill -9`, and the child then stops as well.
 * @param {string} node path of the binary
 */
function restartWithNode(node) {
  const child = spawn(node, [thisFile, ...process.argv.slice(2)], {
    stdio: ["inherit", "inherit", "inherit", "ipc"],
    env: { ...process.env, [RESTARTED_VARIABLE]: "1" },
  });
  /** @type {NodeJS.Signals[]} */
  const forwarded = ["SIGINT", "SIGTERM", "SIGHUP"];
  for (const signal of forwarded) process.on(signal, () => child.kill(signal));

  child.on("error", (error) => {
    console.error(`The pinned Node at ${node} did not start: ${error.message}`);
    process.exit(1);
  });
  child.on("exit", (code, signal) => {
    if (signal === null) process.exit(code ?? 1);
    // End by the same signal as the child, so that the shell reports it.
    for (const name of forwarded) process.removeAllListeners(name);
    process.kill(process.pid, signal);
  });
}

/**
 * Drains as on SIGTERM when the package manager that started this process has ended. After a `kill -9` of npm the dev
 * world would otherwise run on in the background. A changed parent process id shows that npm has ended.
 * @param {number} parentPid process id
 */
function exitWithPackageManager(parentPid) {
  const timer = setInterval(() => {
    if (process.ppid === parentPid) return;
    clearInterval(timer);
    process.kill(process.pid, "SIGTERM");
  }, PARENT_POLL_MS);
  timer.unref();
}

/** Drains as on SIGTERM when the process that restarted this one has ended; exits with 1 after DRAIN_MS_MAX. */
function exitWithParent() {
  process.on("disconnect", () => {
    setTimeout(() => process.exit(1), DRAIN_MS_MAX).unref();
    process.kill(process.pid, "SIGTERM");
  });
  // Otherwise the listener keeps a finished command such as `tributary doctor` running.
  process.channel?.unref();
}
