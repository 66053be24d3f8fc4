import type { DepositRecord } from "../../deposit/depositRecord.ts";
import { createApiClient } from "../../operator/client/apiClient.ts";
import { CHAIN_NAME_FORMS } from "../../config/chainName.ts";
import type { Command, CommandInput } from "../command.ts";
import { CommandError, UsageError } from "../../operator/errors.ts";
import type { DevManifest } from "../../dev/devManifest.ts";
import { findRunningProcess } from "../../operator/control/callControl.ts";
import { chooseTransfer } from "./chooseTransfer.ts";
import {
  readViaApi,
  readViaControl,
  pollUntil,
  type SnapshotReader,
  type IntentSnapshot,
} from "../../operator/client/intentSnapshot.ts";
import { toJson, type Terminal } from "../../operator/process/terminal.ts";
import { readEnvVariable, readTimeoutMs, readWebUrl } from "../optionParsers.ts";

const INTERVAL_MS = 700;
const TIMEOUT_S_DEFAULT = 120;

export const pay: Command = {
  name: "pay",
  summary: "Send a transfer to an intent's inbox, and wait until the service has counted it",
  positionals: [{ name: "intentId", summary: "the intent to pay, pi_…" }],
  options: {
    amount: { value: "DECIMAL", summary: "how much, such as 12.5; what is missing to the price when left out" },
    token: { value: "TOKEN", summary: "symbol or address; the intent's payout token when left out" },
    chain: { value: "CHAIN", summary: `${CHAIN_NAME_FORMS}; the intent's payout chain when left out` },
    "no-wait": { summary: "return as soon as the transfer is in a block" },
    timeout: { value: "SECONDS", summary: `how long to wait; ${TIMEOUT_S_DEFAULT} when left out` },
    "private-key-env": {
      value: "NAME",
      summary: "environment variable with the payer's key; the dev payer's when left out",
    },
    "rpc-url": { value: "URL", summary: "a node of the chain; the dev world's when left out" },
    "base-url": { value: "URL", summary: "a service that is not the dev world; with --api-key-env" },
    "api-key-env": { value: "NAME", summary: "environment variable with the merchant's API key" },
  },
  examples: ["tributary pay pi_3x7… --amount 10", "tributary pay pi_3x7… --chain 900002 --token USDC --no-wait"],
  run: runPay,
};

/** What was typed and needs neither service nor chain to be right or wrong. */
type PayOptions = {
  timeoutMs: number;
  privateKey: string | undefined;
  api: { baseUrl: string; apiKey: string } | undefined;
};
type IntentSource = { read: SnapshotReader; ready: DevManifest | undefined };

async function runPay(input: CommandInput): Promise<number> {
  const [intentId = ""] = input.positionals;
  // All of it before anything is sent: whoever is refused afterwards types it again, and pays twice.
  const options = readPayOptions(input);
  const source = await openSource(input, options);
  const { intent } = await source.read(intentId);
  const { chain, rpcUrl, token, amountUnits, amountText } = chooseTransfer(input.values, source.ready, intent);
  const { createPayer } = await import("../../operator/client/payer.ts");
  const payer = await createPayer({ rpcUrl, privateKey: resolvePayerKey(options, source.ready) });
  if (payer.chainId !== chain.chainId)
    throw new UsageError(`--rpc-url is a node of chain ${payer.chainId}, not of ${chain.name} (${chain.chainId}).`);
  input.terminal.note(`paying ${amountText} to ${intent.inboxAddress} on ${chain.name}`);
  const sent = await payer.transfer(token.address, intent.inboxAddress, amountUnits);
  input.terminal.note(`in block ${sent.blockNumber}: ${sent.txHash}`);
  if (input.flags.has("no-wait")) return printResult(input, { txHash: sent.txHash, blockNumber: sent.blockNumber });
  const { reading, deposit } = await waitForDeposit(input.terminal, {
    read: () => source.read(intentId),
    txHash: sent.txHash,
    timeoutMs: options.timeoutMs,
  });
  const { amounts, status, paymentStatus } = reading.intent;
  printResult(input, {
    txHash: sent.txHash,
    blockNumber: sent.blockNumber,
    deposit,
    intent: { intentId, status, paymentStatus, amounts },
  });
  if (deposit.status === "counted") return 0;
  input.terminal.note(`the deposit is held: ${deposit.reason ?? "no reason given"}`);
  return 1;
}

function printResult(
  input: CommandInput,
  result: { txHash: string; blockNumber: bigint; deposit?: DepositRecord; intent?: unknown },
): number {
  if (input.asJson) input.terminal.out(toJson(result));
  else if (result.deposit === undefined) input.terminal.out(result.txHash);
  else input.terminal.out(`${result.txHash} ${result.deposit.status}`);
  return 0;
}

function readPayOptions(input: CommandInput): PayOptions {
  readWebUrl(input.values, "rpc-url");
  const baseUrl = readWebUrl(input.values, "base-url");
  const apiKey = readEnvVariable(input, "api-key-env");
  if ((baseUrl === undefined) !== (apiKey === undefined))
    throw new UsageError("--base-url and --api-key-env belong together.");
  return {
    timeoutMs: readTimeoutMs(input.values, TIMEOUT_S_DEFAULT),
    privateKey: readEnvVariable(input, "private-key-env"),
    api: baseUrl === undefined || apiKey === undefined ? undefined : { baseUrl, apiKey },
  };
}

async function openSource({ environment }: CommandInput, { api }: PayOptions): Promise<IntentSource> {
  if (api !== undefined) return { read: readViaApi(createApiClient(api)), ready: undefined };
  const running = await findRunningProcess(environment);
  if (running === undefined)
    throw new CommandError("Nothing runs here. Start `tributary dev`, or give --base-url and --api-key-env.");
  return { read: readViaControl(running), ready: (running.ready as DevManifest | null) ?? undefined };
}

function resolvePayerKey({ privateKey }: PayOptions, ready: DevManifest | undefined): string {
  const key = privateKey ?? ready?.payer.privateKey;
  if (key === undefined) throw new UsageError("There is no dev payer here; give --private-key-env.");
  return key;
}

type ObservedDeposit = { reading: IntentSnapshot; deposit: DepositRecord };
type DepositWait = { read: () => Promise<IntentSnapshot>; txHash: string; timeoutMs: number };

async function waitForDeposit(terminal: Terminal, { read, txHash, timeoutMs }: DepositWait): Promise<ObservedDeposit> {
  const find = ({ deposits }: IntentSnapshot) => deposits.find((deposit) => deposit.txHash === txHash);
  try {
    const reading = await pollUntil(read, (now) => ["counted", "held"].includes(find(now)?.status ?? ""), {
      description: "The counting of the deposit",
      timeoutMs,
      intervalMs: INTERVAL_MS,
      onRead: (now) => terminal.progress(formatProgress(find(now))),
    });
    const deposit = find(reading);
    if (deposit === undefined) throw new CommandError("The deposit has disappeared.");
    return { reading, deposit };
  } catch (error) {
    terminal.note(`The money was sent by ${txHash}: paying again would pay twice.`);
    throw error;
  }
}

function formatProgress(deposit: DepositRecord | undefined): string {
  if (deposit === undefined) return "waiting to be seen";
  const { status, confirmations, requiredConfirmations } = deposit;
  return requiredConfirmations === null
    ? status
    : `${status}, ${confirmations} of ${requiredConfirmations} confirmations`;
}
