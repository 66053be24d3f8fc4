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
  /** What it prints when it begins to fetch, and when all is committed. */
  startLine: string;
  endLine: string;
  timeoutMs: number;
  /** What is asked of it before it is ended. */
  beforeEnd?: () => Promise<void>;
};

const OUTPUT_LINES_MAX = 12;
const OUTPUT_BYTES_MAX = 64 * 1_024 * 1_024;

/** Runs it until it says that it is done, and ends it. Milliseconds between the two lines, and its largest memory. */
export async function runIndexer(rival: IndexerProcess): Promise<{ ms: number; peakRssBytes: number }> {
  const [program, ...parameters] = rival.command;
  const child = spawn("setpriv", ["--pdeathsig", "KILL", program, ...parameters], {
    cwd: rival.folder,
    env: { ...environment(), ...rival.environment },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const exited = once(child, "exit");
  try {
    const ms = await measureBetweenLines(child, rival);
    const peakRssBytes = await readPeakRss(child.pid);
    await rival.beforeEnd?.();
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
  const last: string[] = [];
  const told = () => last.join("\n").slice(-2_000);
  return new Promise((resolve, reject) => {
    let begunAt: number | undefined;
    const read = (line: string) => {
      last.push(line);
      if (last.length > OUTPUT_LINES_MAX) last.shift();
      if (begunAt === undefined && line.includes(startLine)) begunAt = performance.now();
      if (begunAt !== undefined && line.includes(endLine)) resolve(performance.now() - begunAt);
    };
    for (const stream of [child.stdout, child.stderr]) {
      if (stream) createInterface({ input: stream }).on("line", read);
    }
    child.once("error", reject);
    child.once("exit", (code) => reject(new Error(`it ended with ${code}: ${told()}`)));
    AbortSignal.timeout(timeoutMs).addEventListener("abort", () => reject(new Error(`it took too long: ${told()}`)));
  });
}

async function readPeakRss(pid: number | undefined): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, "utf8");
  const kB = /^VmHWM:\s+(\d+) kB$/m.exec(status)?.[1];
  return Number(kB ?? Number.NaN) * 1_024;
}

/** Installs into a folder of its own. Install scripts run for those named alone. */
export async function install(folder: string, flags: readonly string[], packages: readonly string[]): Promise<void> {
  const quiet = ["--no-audit", "--no-fund", "--loglevel=error"];
  await run("npm", ["install", ...quiet, ...flags, ...packages], { folder });
}

type Where = { folder: string; environment?: Readonly<Record<string, string>>; programs?: string };

/** Runs a program to its end. `programs` is looked in first for whatever it calls. */
export async function run(program: string, parameters: readonly string[], where: Where): Promise<void> {
  const { PATH, ...rest } = environment();
  const env = {
    ...rest,
    PATH: where.programs === undefined ? PATH : `${where.programs}:${PATH}`,
    ...where.environment,
  };
  await promisify(execFile)(program, parameters, { cwd: where.folder, env, maxBuffer: OUTPUT_BYTES_MAX });
}

export async function exists(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  );
}

/** This one's, with the Node that runs it first on the path. */
function environment(): NodeJS.ProcessEnv {
  return { ...process.env, PATH: `${dirname(process.execPath)}:${process.env["PATH"]}` };
}
