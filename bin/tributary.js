#!/usr/bin/env node
// The door for people: `npx tributary …`, `npm start`, `node bin/tributary.js …`.
//
// The sources are TypeScript that Node runs as it is, which needs the version below. `npx` follows the line above
// and takes whatever `node` the machine has, so this file is plain JavaScript that an older Node can read too: there
// it starts itself again under the Node that package.json pins, and stays only to pass signals and the exit code on.
import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { createRequire } from "node:module";
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
  if (restarted) exitWithParent();
  await import("../src/cli/main.ts");
} else {
  const node = restarted ? undefined : findPinnedNode();
  if (node === undefined) {
    const wanted = NODE_VERSION_MIN.join(".");
    console.error(`Tributary needs Node ${wanted} or newer, and this is ${process.versions.node}.`);
    console.error("Run `npm ci` in its folder, which installs the pinned Node, or install a newer Node.");
    process.exitCode = 1;
  } else {
    restartWithNode(node);
  }
}

/** @param {string} version as in `process.versions.node` */
function isNewEnough(version) {
  const [major = 0, minor = 0] = version.split(".").map(Number);
  const [majorMin = 0, minorMin = 0] = NODE_VERSION_MIN;
  return major > majorMin || (major === majorMin && minor >= minorMin);
}

/** The pinned Node beside this file, else wherever the package manager put it; undefined when there is none. */
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
 * Runs this same file under another Node with our arguments and streams. The extra channel carries no message: it
 * closes when this process ends, however it ends, which is how the child learns of a `kill -9`.
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
    // End in the way the child ended, so that the shell sees the signal and not a made-up number.
    for (const name of forwarded) process.removeAllListeners(name);
    process.kill(process.pid, signal);
  });
}

/**
 * Drains as on SIGTERM when the package manager that runs us is gone. It passes signals on, but a `kill -9` of it would leave a
 * whole local world behind that nobody sees. Only a change of the parent shows that; a shell that a person closes is not meant.
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

/** Drains as on SIGTERM when the process that restarted us is gone; whatever does not drain in time is cut off. */
function exitWithParent() {
  process.on("disconnect", () => {
    setTimeout(() => process.exit(1), DRAIN_MS_MAX).unref();
    process.kill(process.pid, "SIGTERM");
  });
  // The listener alone would keep a finished command such as `tributary doctor` alive.
  process.channel?.unref();
}
