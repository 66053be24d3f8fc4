import { fork } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { createTestClient, http, publicActions, type Hex } from "viem";
import { systemClock } from "../../kernel/clock.ts";
import type { WatchdogOptions, WatchdogReport } from "./watchdog.ts";

export interface AnvilOptions {
  chainId: number;
  /** A free one when absent. */
  port?: number;
  /** Keeps the chain here from run to run; absent, the chain is gone when it stops. */
  stateDirectory?: string;
  /** One block per transaction always; with this, also one every so many seconds, as real chains have them. */
  blockTimeSeconds?: number;
  /** `safe` lags this many blocks behind the head, and `finalized` twice as many; 1 when absent. */
  slotsInAnEpoch?: number;
}

export interface Anvil {
  rpcUrl: string;
  chainId: number;
  pid: number;
  /** The process that ends anvil when this one is gone. */
  watchdogPid: number;
  genesisHash: Hex;
  /** Ends anvil; resolves when it is gone and its state, if kept, is written. */
  stop(): Promise<void>;
  /** Resolves when anvil is gone, for whatever reason. */
  stopped: Promise<void>;
}

/** A chain of a day has 150 MB of blocks to write. */
const STATE_GRACE_MS = 30_000;
/** A watchdog that has not ended by then never will. */
const STOP_WAIT_MS = STATE_GRACE_MS + 5_000;
/** Past states that are kept on disk, about 200 kB each: how far back balances can be asked, and blocks be replaced. */
const PAST_STATES_MAX = 512;
const ARCHITECTURES: Readonly<Record<string, string>> = { x64: "amd64", arm64: "arm64" };

/**
 * The platform's anvil itself. The npm bin around it is a Node wrapper, which would stand between us and the process
 * that we must end.
 */
export function findAnvilBinary(): string {
  const architecture = ARCHITECTURES[process.arch] ?? process.arch;
  const name = process.platform === "win32" ? "anvil.exe" : "anvil";
  const fromHere = createRequire(import.meta.url);
  // The platform package is a dependency of the wrapper, so it is looked up from there, wherever npm has put it.
  const fromWrapper = createRequire(fromHere.resolve("@foundry-rs/anvil/package.json"));
  return fromWrapper.resolve(`@foundry-rs/anvil-${process.platform}-${architecture}/bin/${name}`);
}

/**
 * Starts a local chain on a port of 127.0.0.1, ready to answer. It ends with `stop`, and in any case when this process
 * ends, kill -9 included.
 * @throws Error when anvil does not start, or when the kept state is another chain's or is in use.
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
    // The channel no longer kept the process alive; from here on it must, until anvil is gone.
    watchdog.ref();
    if (watchdog.connected) watchdog.disconnect();
    const stopTimeout = new AbortController();
    void systemClock
      .sleep(STOP_WAIT_MS, stopTimeout.signal)
      .then(() => stopTimeout.signal.aborted || watchdog.kill("SIGKILL"));
    return stopped.finally(() => stopTimeout.abort());
  };
  try {
    const client = createTestClient({ mode: "anvil", transport: http(rpcUrl) }).extend(publicActions);
    // It prints a line for every request and block otherwise, for nobody.
    await client.setLoggingEnabled(false);
    const { hash: genesisHash } = await client.getBlock({ blockNumber: 0n });
    if (checkGenesis(options, genesisHash) === "resumed") {
      // Of the blocks before the restart only the last one's balances are known: it becomes the final one.
      await client.mine({ blocks: 2 * (options.slotsInAnEpoch ?? 1) });
    }
    watchdog.unref();
    watchdog.channel?.unref();
    return { rpcUrl, chainId: options.chainId, pid, watchdogPid: watchdog.pid ?? 0, genesisHash, stop, stopped };
  } catch (error) {
    // Killed, it writes nothing into a directory that it has no business in.
    killIfRunning(pid);
    await stop();
    throw error;
  }
}

function buildWatchdogOptions(options: AnvilOptions): WatchdogOptions {
  const { stateDirectory, blockTimeSeconds, slotsInAnEpoch = 1 } = options;
  const flags = ["--host", "127.0.0.1", "--port", String(options.port ?? 0), "--chain-id", String(options.chainId)];
  // No account of anvil's own: the mnemonic everybody knows has no money here, and no request is signed by the node.
  flags.push("--accounts", "0", "--max-persisted-states", String(PAST_STATES_MAX));
  flags.push("--slots-in-an-epoch", String(slotsInAnEpoch));
  if (blockTimeSeconds !== undefined) flags.push("--mixed-mining", "--block-time", String(blockTimeSeconds));
  const order: WatchdogOptions = { binary: findAnvilBinary(), arguments: flags, graceMs: 0 };
  return stateDirectory === undefined ? order : { ...order, stateDirectory, graceMs: STATE_GRACE_MS };
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

/** Remembers which chain lives in the directory, and refuses another one there. */
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
    throw new Error(`${stateDirectory} keeps the chain ${stored}, but anvil has loaded ${current}`);
  return "resumed";
}

/** The watchdog has done all this, unless it was killed itself. */
function cleanUp(pid: number, scratch: string): void {
  killIfRunning(pid);
  rmSync(scratch, { recursive: true, force: true });
}

function killIfRunning(pid: number): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch {
    // It was gone already.
  }
}
