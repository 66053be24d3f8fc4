import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Pool } from "undici";
import { findAnvilBinary } from "../../../src/dev/chains/anvil.ts";
import { hashOf, inboxAt, TOKEN } from "../backfillNode.ts";

// A real anvil with busy blocks. Creating it takes ten seconds, so nothing is cached between runs.

export const BLOCKS = 2_000;
export const TRANSFERS_A_BLOCK = 50;
/** A busy block before the measured ones; a watcher reads it first and loads its state. */
export const WARM_BLOCK = 10;
export const FIRST_BLOCK = WARM_BLOCK + 1;
export const LAST_BLOCK = WARM_BLOCK + BLOCKS;
/** Enough blocks above that the busy ones are not read one by one as the newest. */
const BLOCKS_ABOVE = 70;

const SENDER = `0x${"5e".repeat(20)}`;
const SENDER_WEI = "0xffffffffffffffffffffff";
const GAS = "0xea60";
const GAS_PRICE = "0x3b9aca00";
/**
 * An ERC-20 without storage: a transfer emits LOG3 with caller, first and second argument, and returns true; a call
 * without two arguments returns 6, the decimals.
 */
const TOKEN_CODE =
  "0x6024355f52600435337fddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef60205fa3604436106005026001015f5260205ff3";

/** An anvil that mines on request, with a token whose transfers cost almost nothing. */
export type BenchChain = {
  processId: number;
  rpcUrl: string;
  requestRpc(method: string, params: readonly unknown[]): Promise<unknown>;
  /** Mines blocks of 50 transfers, one per transaction, to the given recipients. */
  mineBusy(blocks: number, recipient: (block: number, index: number) => string): Promise<void>;
  stop(): Promise<void>;
};

export type BenchChainOptions = {
  /** `finalized` is twice this many blocks behind. */
  slotsInAnEpoch: number;
};

export async function startBenchChain({ slotsInAnEpoch }: BenchChainOptions): Promise<BenchChain> {
  const home = await mkdtemp(join(tmpdir(), "tributary-bench-anvil-"));
  const anvil = launch(["--port", "0", "--slots-in-an-epoch", String(slotsInAnEpoch), "--cache-path", home]);
  const rpcUrl = `http://127.0.0.1:${await portOf(anvil)}`;
  const pool = new Pool(rpcUrl, { connections: 1 });
  const requestRpc = async (method: string, params: readonly unknown[]) =>
    resultOf(await post(pool, callOf(method, params)));
  await requestRpc("anvil_setLoggingEnabled", [false]);
  await requestRpc("anvil_impersonateAccount", [SENDER]);
  await requestRpc("anvil_setBalance", [SENDER, SENDER_WEI]);
  await requestRpc("anvil_setCode", [TOKEN, TOKEN_CODE]);
  let nonce = 0;
  return {
    processId: anvil.pid ?? Number.NaN,
    rpcUrl,
    requestRpc,
    async mineBusy(blocks, recipient) {
      for (let block = 0; block < blocks; block += 1) {
        const recipients = Array.from({ length: TRANSFERS_A_BLOCK }, (_, index) => recipient(block, index));
        const answers = await post(pool, transfersTo(recipients, nonce));
        for (const answer of answers as unknown[]) resultOf(answer);
        nonce += recipients.length;
        await requestRpc("anvil_mine", ["0x1"]);
      }
    },
    async stop() {
      await pool.destroy();
      if (anvil.exitCode === null && anvil.kill("SIGKILL")) await once(anvil, "exit");
      await rm(home, { recursive: true, force: true });
    },
  };
}

/** 2,000 blocks of 50 transfers; the twenty-sixth of each block pays one of the inboxes. */
export async function startChainWithTransfers(options: BenchChainOptions): Promise<BenchChain> {
  const chain = await startBenchChain(options);
  await chain.requestRpc("anvil_mine", [toHex(WARM_BLOCK - 1)]);
  await chain.mineBusy(BLOCKS + 1, (block, index) =>
    index === 25 && block > 0 ? inboxAt((block - 1) * TRANSFERS_A_BLOCK) : unwatchedAddress(block, index),
  );
  await chain.requestRpc("anvil_mine", [toHex(BLOCKS_ABOVE)]);
  return chain;
}

/** An address that is not an inbox. */
export function unwatchedAddress(block: number, index: number): string {
  return hashOf(`to ${block} ${index}`).slice(0, 42);
}

function launch(flags: readonly string[]): ChildProcess {
  const quiet = ["--accounts", "0", "--no-mining", "--order", "fifo", "--base-fee", "0", "--gas-limit", "300000000"];
  // The kernel kills anvil when this process ends in any way.
  const command = ["--pdeathsig", "KILL", findAnvilBinary(), ...flags, ...quiet, "--prune-history"];
  const anvil = spawn("setpriv", command, { stdio: ["ignore", "pipe", "inherit"] });
  return anvil;
}

async function portOf(anvil: ChildProcess): Promise<number> {
  let output = "";
  return new Promise((resolve, reject) => {
    anvil.stdout?.on("data", (chunk: Buffer) => {
      output = (output + chunk.toString()).slice(-2_000);
      const port = /Listening on \S+:(\d+)/.exec(output)?.[1];
      if (port !== undefined) resolve(Number(port));
    });
    anvil.once("error", reject);
    anvil.once("exit", () => reject(new Error(`anvil did not start: ${output}`)));
  });
}

function transfersTo(recipients: readonly string[], firstNonce: number): object[] {
  return recipients.map((to, index) => {
    const amount = (1_000_000 + index).toString(16).padStart(64, "0");
    const data = `0xa9059cbb${to.slice(2).padStart(64, "0")}${amount}`;
    const nonce = toHex(firstNonce + index);
    return callOf("eth_sendTransaction", [{ from: SENDER, to: TOKEN, gas: GAS, gasPrice: GAS_PRICE, nonce, data }]);
  });
}

function callOf(method: string, params: readonly unknown[]): object {
  return { jsonrpc: "2.0", id: 1, method, params };
}

async function post(pool: Pool, body: unknown): Promise<unknown> {
  const headers = { "content-type": "application/json" };
  const response = await pool.request({ method: "POST", path: "/", headers, body: JSON.stringify(body) });
  return response.body.json();
}

function resultOf(answer: unknown): unknown {
  const { result, error } = answer as { result?: unknown; error?: unknown };
  if (error !== undefined) throw new Error(`anvil refused: ${JSON.stringify(error)}`);
  return result;
}

export function toHex(value: number): string {
  return `0x${value.toString(16)}`;
}
