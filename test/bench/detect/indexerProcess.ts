import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { readFile, stat } from "node:fs/promises";
import { dirname } from "node:path";
import { createInterface } from "node:readline";
import { promisify } from "node:util";

export type IndexerProcess = {
  command: readonly [program: string, ...parameters: string[]];
  folder: string;
  environment: Readonly<Record<string, string>>;
  /** The output lines that mark the first fetch and the last commit. */
  startLine: string;
  endLine: string;
  timeoutMs: number;
  /** Runs before the process is killed. */
  beforeEnd?: () => Promise<void>;
};

const OUTPUT_LINES_MAX = 12;
const OUTPUT_BYTES_MAX = 64 * 1_024 * 1_024;

/** Runs an indexer until its end line, then kills it. Returns the time between the two lines and the peak memory. */
export async function runIndexer(indexer: IndexerProcess): Promise<{ ms: number; peakRssBytes: number }> {
  const [program, ...parameters] = indexer.command;
  const child = spawn("setpriv", ["--pdeathsig", "KILL", program, ...parameters], {
    cwd: indexer.folder,
    env: { ...environment(), ...indexer.environment },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const exited = once(child, "exit");
  try {
    const ms = await measureBetweenLines(child, indexer);
    const peakRssBytes = await readPeakRss(child.pid);
    await indexer.beforeEnd?.();
    return { ms, peakRssBytes };
  } finally {
    child.kill("SIGKILL");
    await exited;
  }
}

function measureBetweenLines(
  child: ReturnType<typeof spawn>,
  { startLine, endLine, timeoutMs }: IndexerProcess,
): Promise<number> {
  const lastLines: string[] = [];
  const lastOutput = () => lastLines.join("\n").slice(-2_000);
  return new Promise((resolve, reject) => {
    let begunAt: number | undefined;
    const read = (line: string) => {
      lastLines.push(line);
      if (lastLines.length > OUTPUT_LINES_MAX) lastLines.shift();
      if (begunAt === undefined && line.includes(startLine)) begunAt = performance.now();
      if (begunAt !== undefined && line.includes(endLine)) resolve(performance.now() - begunAt);
    };
    for (const stream of [child.stdout, child.stderr]) {
      if (stream) createInterface({ input: stream }).on("line", read);
    }
    child.once("error", reject);
    child.once("exit", (code) => reject(new Error(`the indexer ended with ${code}: ${lastOutput()}`)));
    AbortSignal.timeout(timeoutMs).addEventListener("abort", () =>
      reject(new Error(`the indexer timed out: ${lastOutput()}`)),
    );
  });
}

async function readPeakRss(pid: number | undefined): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, "utf8");
  const kB = /^VmHWM:\s+(\d+) kB$/m.exec(status)?.[1];
  return Number(kB ?? Number.NaN) * 1_024;
}

/** Installs packages into a folder. Install scripts run only for allowed packages. */
export async function install(folder: string, flags: readonly string[], packages: readonly string[]): Promise<void> {
  const quiet = ["--no-audit", "--no-fund", "--loglevel=error"];
  await run("npm", ["install", ...quiet, ...flags, ...packages], { folder });
}

type RunOptions = { folder: string; environment?: Readonly<Record<string, string>>; programs?: string };

/** Runs a program to its end. `programs` comes first in its PATH. */
export async function run(program: string, parameters: readonly string[], options: RunOptions): Promise<void> {
  const { PATH, ...rest } = environment();
  const env = {
    ...rest,
    PATH: options.programs === undefined ? PATH : `${options.programs}:${PATH}`,
    ...options.environment,
  };
  await promisify(execFile)(program, parameters, { cwd: options.folder, env, maxBuffer: OUTPUT_BYTES_MAX });
}

export async function exists(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  );
}

/** This process's environment, with its Node first in the PATH. */
function environment(): NodeJS.ProcessEnv {
  return { ...process.env, PATH: `${dirname(process.execPath)}:${process.env["PATH"]}` };
}
