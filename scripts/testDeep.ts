/** Runs the tests that take too long for every commit: `npm run test:deep`. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import process from "node:process";
import { text } from "node:stream/consumers";
import { parseArgs } from "node:util";
import { DEEP_PARTS } from "../test/deepParts.ts";
import { RUN_VARIABLE } from "../test/support/runNumber.ts";
import { chooseShare, numberOfRun } from "./tests/chooseShare.ts";
import { addGroup, endGroupsWithRunner, removeGroup } from "./tests/processGroups.ts";
import { parseShare, partsOfShare, type DeepPart, type Share } from "./tests/deepParts.ts";

const SHARES = 32;
const USAGE = `Usage: npm run test:deep -- [--share=3/32|auto] [--run=713] [--minutes=4] [--again] [--list]

  --share    this share of the parts; "auto" takes the next of ${SHARES} at each commit; everything without it
  --run      the run whose random values are drawn; the number of commits without it
  --minutes  starts no part later than this
  --again    runs each failed part once more, alone, and fails only if it fails again
  --list     prints the parts and runs none`;

const WORKERS = 2;
const OUTPUT_LINES_MAX = 200;

const { values } = parseOptions();
if (values.help) {
  process.stdout.write(`${USAGE}\n`);
  process.exit(0);
}
endGroupsWithRunner();
const share = readShare(values.share);
const parts = share === undefined ? DEEP_PARTS : partsOfShare(DEEP_PARTS, share);
const run = values.run === undefined ? numberOfRun(process.cwd()) : readNumber("--run", values.run);
const again = `npm run test:deep --${share === undefined ? "" : ` --share ${share.number}/${share.of}`} --run ${run}`;
const title = share === undefined ? "all" : `share ${share.number} of ${share.of}`;
print(`== deep tests: ${title}, ${parts.length} parts, random values of run ${run}`);
if (values.list) for (const { name, seconds } of parts) print(`${String(seconds).padStart(5)} s  ${name}`);
else await runParts(parts);

async function runParts(chosen: readonly DeepPart[]): Promise<void> {
  const lastStartMs = performance.now() + readMinutes(values.minutes) * 60_000;
  const queue = [...chosen];
  const failed: DeepPart[] = [];
  const work = async () => {
    while (performance.now() < lastStartMs) {
      const part = queue.shift();
      if (part === undefined) return;
      if (!(await runPart(part))) failed.push(part);
    }
  };
  await Promise.all(Array.from({ length: WORKERS }, work));
  const repeated = values.again ? failed.splice(0) : [];
  for (const part of repeated) if (!(await runPart(part))) failed.push(part);
  for (const { name } of repeated.filter((part) => !failed.includes(part)))
    print(`!! failed at first, and passed alone: find out why: ${name}`);
  for (const { name } of queue) print(`-- not started within ${values.minutes} minutes: ${name}`);
  for (const { name } of failed) print(`✖ ${name}`);
  const outcome = failed.length > 0 ? `${failed.length} parts failed` : "ok";
  print(`== deep tests: ${outcome}, ${chosen.length - queue.length} of ${chosen.length} parts ran; again: ${again}`);
  if (failed.length > 0) process.exitCode = 1;
}

/** Returns true when the part passes. Prints the part's output when it fails. */
async function runPart({ name, command, environment }: DeepPart): Promise<boolean> {
  const startedMs = performance.now();
  const child = spawn(process.execPath, command, {
    env: { ...process.env, [RUN_VARIABLE]: String(run), ...environment },
    stdio: ["ignore", "pipe", "pipe"],
    detached: true,
  });
  addGroup(child);
  child.once("exit", () => removeGroup(child));
  const [out, error] = await Promise.all([text(child.stdout), text(child.stderr), once(child, "close")]);
  const passed = child.exitCode === 0;
  const seconds = ((performance.now() - startedMs) / 1_000).toFixed(1);
  if (!passed) print(`${out}${error}`.split("\n").slice(-OUTPUT_LINES_MAX).join("\n"));
  print(`-- ${name}: ${passed ? "ok" : "FAILED"} (${seconds} s): node ${command.join(" ")}`);
  return passed;
}

function readShare(typed: string | undefined): Share | undefined {
  if (typed === undefined) return undefined;
  const chosen = typed === "auto" ? chooseShare(process.cwd(), SHARES) : parseShare(typed);
  return chosen ?? exitWithUsage(`--share must be auto, or a share such as 3/32, not ${typed}.`);
}

function readMinutes(typed: string | undefined): number {
  return typed === undefined ? Infinity : readNumber("--minutes", typed);
}

function readNumber(option: string, typed: string): number {
  return /^[1-9]\d{0,9}$/.test(typed)
    ? Number(typed)
    : exitWithUsage(`${option} must be a whole number from 1 on, not ${typed}.`);
}

function parseOptions() {
  try {
    return parseArgs({
      options: {
        share: { type: "string" },
        run: { type: "string" },
        minutes: { type: "string" },
        again: { type: "boolean", default: false },
        list: { type: "boolean", default: false },
        help: { type: "boolean", short: "h", default: false },
      },
    });
  } catch (error) {
    return exitWithUsage(error instanceof Error ? error.message : String(error));
  }
}

function exitWithUsage(message: string): never {
  process.stderr.write(`${message}\n\n${USAGE}\n`);
  process.exit(2);
}

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}
