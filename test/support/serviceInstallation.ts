import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { DEV_ACCOUNTS } from "../../src/dev/devAccounts.ts";
import type { TestChain } from "./chain.ts";

// The real service as an operator starts it, in a process of its own that a test may kill.

const MAIN = fileURLToPath(new URL("../../src/cli/main.ts", import.meta.url));

export type ServiceInstallation = {
  /** The configuration file, and the environment in which commands use it. */
  file: string;
  environment: Readonly<Record<string, string>>;
  /** Starts the service; resolves when it answers, and returns what kills it. */
  start(): Promise<RunningService>;
  /** Starts the service and kills it so much later, whether it was ready or not. */
  startAndKill(afterMs: number): Promise<void>;
  baseUrl: string;
  remove(): Promise<void>;
};

export type RunningService = {
  pid: number;
  /** As the operating system would, without a chance to clean up. */
  kill(): Promise<void>;
  /** In order; the exit code. */
  stop(): Promise<number | null>;
  /** The exit code, when it has ended by itself. */
  waitForExit(): Promise<number | null>;
  /** All that it has written, on both streams. */
  output(): string;
};

export type InstallationOptions = {
  chain: InstallationChain;
  /** Absent where `config` names another database. */
  databaseUrl?: string;
  port: number;
  pollMs?: number;
  /** Fields of the configuration file that the test wants otherwise, and variables beside it. */
  config?: object;
  variables?: Readonly<Record<string, string>>;
};

type InstallationChain = Pick<TestChain, "chainId" | "rpcUrl"> & { usdc: { address: string } };

/** A chain that never answers, for tests of what needs none. */
export const UNREACHABLE_CHAIN: InstallationChain = {
  chainId: 900_021,
  rpcUrl: "http://127.0.0.1:1",
  usdc: { address: "0x00000000000000000000000000000000000c0de6" },
};

/** A configuration file for one chain with one confirmation. */
export async function openInstallation(options: InstallationOptions): Promise<ServiceInstallation> {
  const { chain, databaseUrl, port, pollMs = 100 } = options;
  const home = await mkdtemp(join(tmpdir(), "tributary-site-"));
  const file = join(home, "config.json");
  const baseUrl = `http://127.0.0.1:${port}`;
  await writeFile(file, JSON.stringify({ ...installationConfig(chain, { baseUrl, port, pollMs }), ...options.config }));
  const environment = {
    ...(databaseUrl === undefined ? {} : { TRIBUTARY_DATABASE_URL: databaseUrl }),
    TRIBUTARY_HOME: home,
    TEST_GAS_KEY: DEV_ACCOUNTS.operator.privateKey,
    ...options.variables,
  };
  const children = new Set<ChildProcess>();
  const spawnService = () => {
    const child = spawn(process.execPath, ["--no-warnings", MAIN, "serve", "--config", file, "--json"], {
      env: { ...process.env, ...environment },
      stdio: ["ignore", "pipe", "pipe"],
    });
    children.add(child);
    child.once("exit", () => children.delete(child));
    return child;
  };
  return {
    file,
    environment,
    baseUrl,
    startAndKill: async (afterMs) => {
      const child = spawnService();
      await delay(afterMs);
      child.kill("SIGKILL");
      await waitForExit(child);
    },
    start: async () => {
      const child = spawnService();
      let output = "";
      for (const stream of [child.stdout, child.stderr])
        stream.on("data", (chunk: Buffer) => {
          output += chunk.toString();
        });
      await waitUntilReady(child);
      return {
        pid: child.pid ?? 0,
        output: () => output,
        kill: async () => {
          child.kill("SIGKILL");
          await waitForExit(child);
        },
        stop: async () => {
          child.kill("SIGTERM");
          return waitForExit(child);
        },
        waitForExit: () => waitForExit(child),
      };
    },
    // A test that fails leaves its service behind, which would keep the test's process from ending.
    remove: async () => {
      for (const child of children) child.kill("SIGKILL");
      await Promise.all([...children].map(waitForExit));
      await rm(home, { recursive: true, force: true });
    },
  };
}

async function waitForExit(child: ChildProcess): Promise<number | null> {
  if (child.exitCode === null && child.signalCode === null) await once(child, "exit");
  return child.exitCode;
}

/** The first line on standard output says that it is ready; an exit before it is a failure that shows its last words. */
async function waitUntilReady(child: ChildProcess): Promise<void> {
  let words = "";
  child.stderr?.on("data", (chunk: Buffer) => (words = (words + chunk.toString()).slice(-4_000)));
  if (!child.stdout) throw new Error("the service has no standard output");
  const lines = createInterface({ input: child.stdout });
  const first = await Promise.race([once(lines, "line"), once(child, "exit").then(() => undefined)]);
  if (first === undefined) throw new Error(`the service ended before it was ready: ${words}`);
}

function installationConfig(chain: InstallationChain, of: { baseUrl: string; port: number; pollMs: number }): object {
  return {
    environment: "test",
    baseUrl: of.baseUrl,
    listen: { host: "127.0.0.1", port: of.port },
    feeRecipient: DEV_ACCOUNTS.feeRecipient.address,
    defaultRail: "local:usdc",
    logLevel: "warn",
    chains: [chainFields(chain, { explorerUrl: of.baseUrl, pollMs: of.pollMs, settleAfterMs: 0 })],
  };
}

/** A chain as a configuration file has it, with one confirmation; `more` is added, or stands instead. */
export function chainFields(chain: InstallationChain, more: object = {}): object {
  return {
    chainId: chain.chainId,
    name: "Local",
    slug: "local",
    rpcUrls: [chain.rpcUrl],
    publicRpcUrl: chain.rpcUrl,
    explorerUrl: "http://127.0.0.1:1",
    native: { name: "Ether", symbol: "ETH", decimals: 18 },
    gasKeyEnv: "TEST_GAS_KEY",
    finality: [{ confirmations: 1 }],
    tokens: [{ symbol: "USDC", address: chain.usdc.address, decimals: 6, minimumUnits: "0" }],
    ...more,
  };
}
