import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { createInterface } from "node:readline";
import { text } from "node:stream/consumers";
import { runCli as runCommand } from "../../src/cli/runCli.ts";
import type { DevManifest } from "../../src/dev/manifest.ts";
import { isDeepRun } from "./runNumber.ts";

// The command line as users run it, with an environment that the test chooses. A process loads 1,900 modules, for two
// seconds of processor time, so `npm test` runs most commands here. The deep tests run each of them as a process once.

/**
 * Optimizing the embedded database takes a processor second, a third of a start, and pays only in a process that runs
 * long.
 */
const ENGINE_OPTIONS = ["--liftoff-only"];

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

export function spawnCli(args: readonly string[], variables: Variables, input?: string): ChildProcess {
  const child = spawn(process.execPath, [...ENGINE_OPTIONS, BIN, ...args], {
    env: environmentOf(variables),
    stdio: [input === undefined ? "ignore" : "pipe", "pipe", "pipe"],
  });
  child.stdin?.end(input);
  return child;
}

/** Commands that handle signals and uncaught errors, or read standard input. They always run as a process. */
const PROCESS_COMMANDS: ReadonlySet<string | undefined> = new Set(["serve", "dev", "init"]);
/** With one of these they end by themselves, and ask nothing. */
const PROCESSLESS_OPTIONS = ["--check", "--yes", "--help"];
/** Commands whose second word is part of their name. */
const COMMAND_GROUPS: ReadonlySet<string | undefined> = new Set([
  "accounts",
  "keys",
  "origins",
  "intents",
  "events",
  "watch",
  "hub",
  "ledger",
]);
const ranAsProcess = new Set<string>();

/**
 * Runs a command to its end. `input` is what a person types. In the deep tests the first run of each command is a
 * process, which must end by itself.
 */
export async function runCli(args: readonly string[], variables: Variables = {}, input?: string): Promise<CliResult> {
  const name = args.slice(0, COMMAND_GROUPS.has(args[0]) || args[1] === "--check" ? 2 : 1).join(" ");
  const isProcess = PROCESS_COMMANDS.has(args[0]) && !PROCESSLESS_OPTIONS.some((option) => args.includes(option));
  if (!isProcess && (!isDeepRun || ranAsProcess.has(name))) return renderCli(args, variables);
  ranAsProcess.add(name);
  return runCliProcess(args, variables, input);
}

/** Runs a command as a process to its end. What it logs is in `err`; a command inside this process logs elsewhere. */
export async function runCliProcess(args: readonly string[], variables: Variables, input?: string): Promise<CliResult> {
  const child = spawnCli(args, variables, input);
  if (child.stdout === null || child.stderr === null) throw new Error("the process has no piped streams");
  const [out, err] = await Promise.all([text(child.stdout), text(child.stderr), once(child, "close")]);
  return { code: child.exitCode, out, err };
}

/** Runs a command in this process. */
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
