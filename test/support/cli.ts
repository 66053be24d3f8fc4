import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { createInterface } from "node:readline";
import { after, before } from "node:test";
import { text } from "node:stream/consumers";
import { findPort } from "../../src/dev/findPort.ts";
import { runCli as runCommand } from "../../src/cli/runCli.ts";
import type { DevManifest } from "../../src/dev/devManifest.ts";

// The command line as users run it: in a process of its own, with an environment that the test chooses.

const BIN = new URL("../../bin/tributary.js", import.meta.url).pathname;

export type CliResult = { code: number | null; out: string; err: string };
type Variables = Readonly<Record<string, string>>;

/** The environment that every command needs, without any setting of this process. */
function environmentOf(variables: Variables): Record<string, string> {
  return { PATH: process.env["PATH"] ?? "", HOME: "/nonexistent", ...variables };
}

/** A temporary folder for TRIBUTARY_HOME and other files of a test. */
export function temporaryFolder(): { path: string; remove(): void } {
  const path = mkdtempSync(join(tmpdir(), "tributary-cli-"));
  return { path, remove: () => rmSync(path, { recursive: true, force: true }) };
}

export function spawnCli(args: readonly string[], variables: Variables): ChildProcess {
  return spawn(process.execPath, [BIN, ...args], { env: environmentOf(variables), stdio: ["ignore", "pipe", "pipe"] });
}

/** Runs a command to its end. */
export async function runCli(args: readonly string[], variables: Variables = {}): Promise<CliResult> {
  const child = spawnCli(args, variables);
  if (child.stdout === null || child.stderr === null) throw new Error("the process has no piped streams");
  const [out, err] = await Promise.all([text(child.stdout), text(child.stderr), once(child, "close")]);
  return { code: child.exitCode, out, err };
}

/** Runs a command in this process, for help and refusals, which need no other process. */
export async function renderCli(args: readonly string[], variables: Variables = {}): Promise<CliResult> {
  const written = { out: "", err: "" };
  const streamTo = (name: keyof typeof written) => ({
    write: (text: string) => (written[name] += text),
    on: () => undefined,
  });
  const streams = { out: streamTo("out"), error: streamTo("err") };
  const code = await runCommand(args, { ...streams, environment: environmentOf(variables) });
  return { code, ...written };
}

/** Runs a command whose stdout closes before the first line, as behind `| head`. */
export async function runWithClosedStdout(
  args: readonly string[],
  variables: Variables = {},
): Promise<Omit<CliResult, "out">> {
  const child = spawnCli(args, variables);
  if (child.stdout === null || child.stderr === null) throw new Error("the process has no piped streams");
  child.stdout.destroy();
  const [err] = await Promise.all([text(child.stderr), once(child, "exit")]);
  return { code: child.exitCode, err };
}

export type DevProcess = { ready: DevManifest; child: ChildProcess; err(): string; ended: Promise<unknown> };

/** Starts a dev world and waits until it is ready. The caller ends it. */
export async function startDevProcess(args: readonly string[], variables: Variables): Promise<DevProcess> {
  const child = spawnCli(["dev", "--json", ...args], variables);
  if (child.stdout === null || child.stderr === null) throw new Error("the process has no piped streams");
  let output = "";
  child.stderr.on("data", (piece: Buffer) => (output += piece.toString()));
  const ended = once(child, "exit");
  const lines = createInterface({ input: child.stdout });
  const [line] = (await Promise.race([
    once(lines, "line"),
    ended.then(() => Promise.reject(new Error(`the dev world ended before it was ready: ${output}`))),
  ])) as [string];
  return { ready: JSON.parse(line) as DevManifest, child, err: () => output, ended };
}

export type DevWorldFixture = { readonly dev: DevProcess; folder: string; variables: Variables };

/** Starts a dev world with its own home directory for all tests of a `describe`. */
export function useDevWorld(): DevWorldFixture {
  const folder = temporaryFolder();
  const variables = { TRIBUTARY_HOME: folder.path };
  let dev: DevProcess | undefined;
  before(async () => {
    dev = await startDevProcess([], { ...variables, PORT: String(await findPort("127.0.0.1", 0)) });
  });
  after(async () => {
    dev?.child.kill("SIGTERM");
    await dev?.ended;
    folder.remove();
  });
  return {
    folder: folder.path,
    variables,
    get dev() {
      if (dev === undefined) throw new Error("the dev world starts before the first test");
      return dev;
    },
  };
}

/** The processes that `pid` has started, directly or indirectly. */
export async function descendantsOf(pid: number): Promise<number[]> {
  const listing = spawn("ps", ["-A", "-o", "pid=,ppid="], { stdio: ["ignore", "pipe", "inherit"] });
  const rows = (await text(listing.stdout))
    .trim()
    .split("\n")
    .map((row) => row.trim().split(/\s+/).map(Number));
  const found = [pid];
  // The loop visits found children too, because it appends them behind their parent.
  for (const parent of found)
    found.push(...rows.filter(([, parentId]) => parentId === parent).map(([child = 0]) => child));
  return found.slice(1);
}
