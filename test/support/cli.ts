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

// The command line as people run it: a process of its own, with an environment that the test decides.

const BIN = new URL("../../bin/tributary.js", import.meta.url).pathname;

export type CliResult = { code: number | null; out: string; err: string };
type Variables = Readonly<Record<string, string>>;

/** What every command needs of the environment, and nothing of this process's own settings. */
function environmentOf(variables: Variables): Record<string, string> {
  return { PATH: process.env["PATH"] ?? "", HOME: "/nonexistent", ...variables };
}

/** A folder for TRIBUTARY_HOME and whatever else a test keeps. */
export function temporaryFolder(): { path: string; remove(): void } {
  const path = mkdtempSync(join(tmpdir(), "tributary-cli-"));
  return { path, remove: () => rmSync(path, { recursive: true, force: true }) };
}

export function spawnCli(args: readonly string[], variables: Variables): ChildProcess {
  return spawn(process.execPath, [BIN, ...args], { env: environmentOf(variables), stdio: ["ignore", "pipe", "pipe"] });
}

/** Runs a command to its end. */
export async function runCli(words: readonly string[], variables: Variables = {}): Promise<CliResult> {
  const child = spawnCli(words, variables);
  if (child.stdout === null || child.stderr === null) throw new Error("the streams are piped");
  const [out, err] = await Promise.all([text(child.stdout), text(child.stderr), once(child, "close")]);
  return { code: child.exitCode, out, err };
}

/** Runs a command in this process: for help and refusals, which need no process of their own. */
export async function renderCli(words: readonly string[], variables: Variables = {}): Promise<CliResult> {
  const written = { out: "", err: "" };
  const streamTo = (name: keyof typeof written) => ({
    write: (text: string) => (written[name] += text),
    on: () => undefined,
  });
  const streams = { out: streamTo("out"), error: streamTo("err") };
  const code = await runCommand(words, { ...streams, environment: environmentOf(variables) });
  return { code, ...written };
}

/** Runs a command whose reader is gone before the first line, as behind `| head` once it has enough. */
export async function runWithClosedStdout(
  words: readonly string[],
  variables: Variables = {},
): Promise<Omit<CliResult, "out">> {
  const child = spawnCli(words, variables);
  if (child.stdout === null || child.stderr === null) throw new Error("the streams are piped");
  child.stdout.destroy();
  const [err] = await Promise.all([text(child.stderr), once(child, "exit")]);
  return { code: child.exitCode, err };
}

export type DevProcess = { ready: DevManifest; child: ChildProcess; err(): string; ended: Promise<unknown> };

/** A dev world that has said it is ready. Whoever starts it ends it. */
export async function startDevProcess(words: readonly string[], variables: Variables): Promise<DevProcess> {
  const child = spawnCli(["dev", "--json", ...words], variables);
  if (child.stdout === null || child.stderr === null) throw new Error("the streams are piped");
  let said = "";
  child.stderr.on("data", (piece: Buffer) => (said += piece.toString()));
  const ended = once(child, "exit");
  const lines = createInterface({ input: child.stdout });
  const [line] = (await Promise.race([
    once(lines, "line"),
    ended.then(() => Promise.reject(new Error(`the dev world ended before it was ready: ${said}`))),
  ])) as [string];
  return { ready: JSON.parse(line) as DevManifest, child, err: () => said, ended };
}

export type DevWorldFixture = { readonly dev: DevProcess; folder: string; variables: Variables };

/** A dev world, with a home of its own, for all tests of the `describe` in which it is asked for. */
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
      if (dev === undefined) throw new Error("the dev world is there from the first test on");
      return dev;
    },
  };
}

/** The processes that `pid` has started, and theirs. */
export async function descendantsOf(pid: number): Promise<number[]> {
  const listing = spawn("ps", ["-A", "-o", "pid=,ppid="], { stdio: ["ignore", "pipe", "inherit"] });
  const rows = (await text(listing.stdout))
    .trim()
    .split("\n")
    .map((row) => row.trim().split(/\s+/).map(Number));
  const found = [pid];
  // A child stands behind its parent in the list of what is found, however deep.
  for (const parent of found) found.push(...rows.filter(([, of]) => of === parent).map(([child = 0]) => child));
  return found.slice(1);
}
