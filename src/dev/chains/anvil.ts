import { fork } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { createTestClient, http, publicActions, type Hex } from "viem";
import { systemTimer } from "../../kernel/clock.ts";
import { CommandError } from "../../operator/errors.ts";
import { REQUEST_MS_MAX } from "./devClient.ts";
import type { WatchdogOptions, WatchdogReport } from "./watchdog.ts";

export interface AnvilOptions {
  chainId: number;
  /** Default a free port. */
  port?: number;
  /** Stores the chain here for the next run. Default the chain is lost when it stops. */
  stateDirectory?: string;
  /** Every transaction gets its own block at once. With this interval, empty blocks follow as on real chains. */
  blockTimeSeconds?: number;
  /** `safe` is this many blocks behind the head, `finalized` twice as many. Default 1. */
  slotsInAnEpoch?: number;
  /** The rules of the chain, such as `shanghai`. Default the newest. */
  hardfork?: string;
}

export interface Anvil {
  rpcUrl: string;
  chainId: number;
  pid: number;
  /** The process that stops anvil when this process ends. */
  watchdogPid: number;
  genesisHash: Hex;
  /** Stops anvil. Resolves when it has ended and written its state. */
  stop(): Promise<void>;
  /** Resolves when anvil has ended, for any reason. */
  stopped: Promise<void>;
}

/** A chain of one day writes 150 MB of state. */
const STATE_GRACE_MS = 30_000;
/** After this time the watchdog is killed. */
const STOP_WAIT_MS = STATE_GRACE_MS + 5_000;
/** Past states on disk, about 200 kB each. They bound historical balance queries and reorganisations. */
const PAST_STATES_MAX = 512;
const ARCHITECTURES: Readonly<Record<string, string>> = { x64: "amd64", arm64: "arm64" };

/** The platform's anvil binary. The npm bin is a Node wrapper, which would hide the process that must be stopped. */
export function findAnvilBinary(): string {
  const architecture = ARCHITECTURES[process.arch] ?? process.arch;
  const name = process.platform === "win32" ? "anvil.exe" : "anvil";
  const fromHere = createRequire(import.meta.url);
  const wrapper = findWrapper(fromHere);
  if (wrapper === undefined)
    throw new CommandError("The local chains need anvil, a development dependency: run `npm ci` without --omit=dev.");
  // The platform package is a dependency of the wrapper, so it resolves from there wherever npm has put it.
  const fromWrapper = createRequire(wrapper);
  return fromWrapper.resolve(`@foundry-rs/anvil-${process.platform}-${architecture}/bin/${name}`);
}

/** The manifest of the npm package; undefined where only what production needs is installed. */
function findWrapper(fromHere: NodeJS.Require): string | undefined {
  try {
    return fromHere.resolve("@foundry-rs/anvil/package.json");
  } catch {
    return undefined;
  }
}

/**
 * Starts a local chain on 127.0.0.1. It ends with `stop`, and always when this process ends, even by kill -9.
 * @throws Error when anvil does not start, or when the stored state belongs to another chain or is in use.
 */
export async function startAnvil(options: AnvilOptions): Promise<Anvil> {
  if (options.stateDirectory !== undefined) mkdirSync(options.stateDirectory, { recursive: true });
  const watchdog = fork(
    fileURLToPath(new URL("watchdog.ts", import.meta.url)),
    [JSON.stringify(buildWatchdogOptions(options))],
    {
      detached: true,
      stdio: ["ignore", "ignore", "ignore", "ipc"],
      execArgv: ["--no-warnings"],
    },
  );
  const exited = once(watchdog, "exit").then(() => undefined);
  const { pid, port, scratch } = await waitUntilListening(watchdog);
  const stopped = exited.then(() => cleanUp(pid, scratch));
  const rpcUrl = `http://127.0.0.1:${port}`;
  const stop = () => {
    // Keep this process running until anvil has ended.
    watchdog.ref();
    if (watchdog.connected) watchdog.disconnect();
    const stopTimeout = new AbortController();
    void systemTimer
      .sleep(STOP_WAIT_MS, stopTimeout.signal)
      .then(() => stopTimeout.signal.aborted || watchdog.kill("SIGKILL"));
    return stopped.finally(() => stopTimeout.abort());
  };
  try {
    const client = createTestClient({ mode: "anvil", transport: http(rpcUrl, { timeout: REQUEST_MS_MAX }) }).extend(
      publicActions,
    );
    await client.setLoggingEnabled(false);
    const { hash: genesisHash } = await client.getBlock({ blockNumber: 0n });
    if (checkGenesis(options, genesisHash) === "resumed") {
      // After a restart anvil only knows the balances of the last block, so that block must become final.
      await client.mine({ blocks: 2 * (options.slotsInAnEpoch ?? 1) });
    }
    watchdog.unref();
    watchdog.channel?.unref();
    return { rpcUrl, chainId: options.chainId, pid, watchdogPid: watchdog.pid ?? 0, genesisHash, stop, stopped };
  } catch (error) {
    // SIGKILL keeps anvil from writing its state into a directory of another chain.
    killIfRunning(pid);
    await stop();
    throw error;
  }
}

function buildWatchdogOptions(options: AnvilOptions): WatchdogOptions {
  const { stateDirectory, blockTimeSeconds, slotsInAnEpoch = 1 } = options;
  const flags = ["--host", "127.0.0.1", "--port", String(options.port ?? 0), "--chain-id", String(options.chainId)];
  // No accounts: the public test mnemonic owns nothing here, and the node signs no requests.
  flags.push("--accounts", "0", "--max-persisted-states", String(PAST_STATES_MAX));
  flags.push("--slots-in-an-epoch", String(slotsInAnEpoch));
  if (options.hardfork !== undefined) flags.push("--hardfork", options.hardfork);
  if (blockTimeSeconds !== undefined) flags.push("--mixed-mining", "--block-time", String(blockTimeSeconds));
  const watchdogOptions: WatchdogOptions = { binary: findAnvilBinary(), arguments: flags, graceMs: 0 };
  return stateDirectory === undefined
    ? watchdogOptions
    : { ...watchdogOptions, stateDirectory, graceMs: STATE_GRACE_MS };
}

type ListeningReport = Extract<WatchdogReport, { kind: "listening" }>;

function waitUntilListening(watchdog: ChildProcess): Promise<ListeningReport> {
  return new Promise((resolve, reject) => {
    watchdog.on("message", (message: WatchdogReport) => {
      if (message.kind === "listening") resolve(message);
      else reject(new Error(`anvil did not start: ${message.reason}`));
    });
    watchdog.once("error", reject);
    watchdog.once("exit", () => reject(new Error("anvil did not start: its watchdog ended")));
  });
}

/** Stores the chain's id and genesis hash in the directory on the first start. Throws Error when they differ later. */
function checkGenesis({ stateDirectory, chainId }: AnvilOptions, genesisHash: Hex): "new" | "resumed" {
  if (stateDirectory === undefined) return "new";
  const path = join(stateDirectory, "genesis.json");
  const current = JSON.stringify({ chainId, genesisHash });
  if (!existsSync(path)) {
    writeFileSync(path, `${current}\n`);
    return "new";
  }
  const stored = readFileSync(path, "utf8").trim();
  if (stored !== current)
    throw new Error(`${stateDirectory} belongs to the chain ${stored}, but anvil has loaded ${current}`);
  return "resumed";
}

/** Ends anvil and removes its files, in case the watchdog was killed before it could. */
function cleanUp(pid: number, scratch: string): void {
  killIfRunning(pid);
  rmSync(scratch, { recursive: true, force: true });
}

function killIfRunning(pid: number): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch {
    // The process has already ended.
  }
}
