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

// The real service as an operator starts it, in its own process, which a test may kill.

const MAIN = fileURLToPath(new URL("../../src/cli/main.ts", import.meta.url));

export type ServiceInstallation = {
  /** The configuration file, and the environment for commands that use it. */
  file: string;
  environment: Readonly<Record<string, string>>;
  /** Starts the service and resolves when it is ready. */
  start(options?: StartOptions): Promise<RunningService>;
  /** Starts the service and kills it after `afterMs`, ready or not. */
  startAndKill(afterMs: number): Promise<void>;
  baseUrl: string;
  remove(): Promise<void>;
};

export type StartOptions = {
  /** Further arguments. */
  arguments?: readonly string[];
  /** The folder of another version. */
  version?: string;
  /** Replaces environment variables; undefined removes one. */
  variables?: Readonly<Record<string, string | undefined>>;
};

export type RunningService = {
  pid: number;
  /** Kills the process without cleanup. */
  kill(): Promise<void>;
  /** Stops the service in order and returns the exit code. */
  stop(): Promise<number | null>;
  /** Returns the exit code when the process ends by itself. */
  waitForExit(): Promise<number | null>;
  /** All output so far, on both streams. */
  output(): string;
};

export type InstallationOptions = {
  chain: InstallationChain;
  /** Absent when `config` names another database. */
  databaseUrl?: string;
  port: number;
  pollMs?: number;
  /** Overrides fields of the configuration file, and adds environment variables. */
  config?: object;
  variables?: Readonly<Record<string, string>>;
};

type InstallationChain = Pick<TestChain, "chainId" | "rpcUrl"> & { usdc: { address: string } };

/** A chain that never answers, for tests without chain access. */
export const UNREACHABLE_CHAIN: InstallationChain = {
  chainId: 900_021,
  rpcUrl: "http://127.0.0.1:1",
  usdc: { address: "0x00000000000000000000000000000000000c0de6" },
};

/** Creates a configuration file for one chain with one confirmation. */
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
  const spawnService = ({ arguments: more = [], variables = {}, version }: StartOptions = {}) => {
    const main = version === undefined ? MAIN : join(version, "src/cli/main.ts");
    const child = spawn(process.execPath, ["--no-warnings", main, "serve", "--config", file, "--json", ...more], {
      env: { ...process.env, ...environment, ...variables },
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
    start: async (start) => {
      const child = spawnService(start);
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

/** Waits for the first line on standard output, which marks readiness. An earlier exit throws with the last output. */
async function waitUntilReady(child: ChildProcess): Promise<void> {
  let output = "";
  child.stderr?.on("data", (chunk: Buffer) => (output = (output + chunk.toString()).slice(-4_000)));
  if (!child.stdout) throw new Error("the service has no standard output");
  const lines = createInterface({ input: child.stdout });
  const first = await Promise.race([once(lines, "line"), once(child, "exit").then(() => undefined)]);
  if (first === undefined) throw new Error(`the service ended before it was ready: ${output}`);
}

function installationConfig(
  chain: InstallationChain,
  options: { baseUrl: string; port: number; pollMs: number },
): object {
  return {
    environment: "test",
    baseUrl: options.baseUrl,
    listen: { host: "127.0.0.1", port: options.port },
    feeRecipient: DEV_ACCOUNTS.feeRecipient.address,
    defaultRail: "local:usdc",
    logLevel: "warn",
    leaveMs: 0,
    chains: [chainFields(chain, { explorerUrl: options.baseUrl, pollMs: options.pollMs, settleAfterMs: 0 })],
  };
}

/** A chain's entry in the configuration file, with one confirmation. `more` adds or overrides fields. */
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
