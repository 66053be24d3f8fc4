import type { DepositRecord } from "../../deposit/depositRecord.ts";
import { createApiClient } from "../../operator/client/apiClient.ts";
import { CHAIN_NAME_FORMS } from "../../config/chainName.ts";
import type { Command, CommandInput } from "../command.ts";
import { CommandError, UsageError } from "../../operator/errors.ts";
import { isDevManifest, type DevManifest } from "../../dev/manifest.ts";
import { chooseProcessToWrite, SERVICE_OPTION } from "../chooseProcess.ts";
import { namespaceOf, referenceOf, type Namespace } from "../../kernel/caip.ts";
import { openPayer } from "../../operator/client/openPayer.ts";
import { chooseTransfer } from "./chooseTransfer.ts";
import { readViaApi, readViaControl, pollUntil, type SnapshotReader } from "../../operator/client/intentSnapshot.ts";
import type { IntentSnapshot } from "../../operator/intentOperations.ts";
import { toJson, type Terminal } from "../../operator/process/terminal.ts";
import { readEnvVariable, readTimeoutMs, readWebUrl } from "../optionParsers.ts";

const INTERVAL_MS = 700;
const TIMEOUT_S_DEFAULT = 120;
const BELOW_MINIMUM = "below_minimum";

export const pay: Command = {
  name: "pay",
  summary: "pay an intent and wait until its deposit counts",
  help: "Send a transfer to an intent's inbox, and wait until the service counts it",
  positionals: [{ name: "intentId", summary: "intent id (pi_…)" }],
  options: {
    amount: { value: "DECIMAL", summary: "amount, such as 12.5; default the rest of the price" },
    token: { value: "TOKEN", summary: "symbol or address; default the intent's payout token" },
    chain: { value: "CHAIN", summary: `${CHAIN_NAME_FORMS}; default the intent's payout chain` },
    "no-wait": { summary: "return as soon as the transfer is mined" },
    timeout: { value: "SECONDS", summary: `time limit for the wait; default ${TIMEOUT_S_DEFAULT}` },
    "private-key-env": {
      value: "NAME",
      summary: "environment variable with the payer's private key; default the dev payer",
    },
    "rpc-url": { value: "URL", summary: "node of the chain; default the dev world's node" },
    "base-url": { value: "URL", summary: "service of the intent, with --api-key-env; default the dev world" },
    "api-key-env": { value: "NAME", summary: "environment variable with the merchant's API key" },
    ...SERVICE_OPTION,
  },
  examples: ["tributary pay pi_3x7… --amount 10", "tributary pay pi_3x7… --chain 900002 --token USDC --no-wait"],
  run: runPay,
};

/** The options that can be validated without a service or a chain. */
type PayOptions = {
  timeoutMs: number;
  privateKey: string | undefined;
  api: { baseUrl: string; apiKey: string } | undefined;
};
type IntentSource = { read: SnapshotReader; manifest: DevManifest | undefined };

async function runPay(input: CommandInput): Promise<number> {
  const [intentId = ""] = input.positionals;
  // Every option is checked before the transfer: a payer who sees an error runs the command again and pays twice.
  const options = readPayOptions(input);
  const source = await openSource(input, options);
  const { intent } = await source.read(intentId);
  const { chain, rpcUrl, token, amountUnits, amountText } = chooseTransfer(input.values, source.manifest, intent);
  const namespace = namespaceOf(chain.caip2);
  const privateKey = resolvePayerKey(options, source.manifest, namespace);
  const payer = await openPayer(namespace, { rpcUrl, privateKey });
  if (payer.caip2 !== chain.caip2)
    throw new UsageError(
      `--rpc-url must be a node of ${chain.name} (${referenceOf(chain.caip2)}), and it is one of chain ${referenceOf(payer.caip2)}.`,
    );
  input.terminal.note(`paying ${amountText} to ${intent.inboxAddress} on ${chain.name}`);
  const sent = await payer.transfer(token.address, intent.inboxAddress, amountUnits);
  input.terminal.note(`mined in block ${sent.blockNumber}: ${sent.txHash}`);
  if (input.flags.has("no-wait")) return printResult(input, { txHash: sent.txHash, blockNumber: sent.blockNumber });
  const { snapshot, deposit } = await waitForDeposit(input.terminal, {
    read: () => source.read(intentId),
    txHash: sent.txHash,
    timeoutMs: options.timeoutMs,
  });
  const { amounts, status, paymentStatus } = snapshot.intent;
  printResult(input, {
    txHash: sent.txHash,
    blockNumber: sent.blockNumber,
    deposit,
    intent: { intentId, status, paymentStatus, amounts },
  });
  if (deposit.status === "counted") return 0;
  input.terminal.note(
    deposit.reason === BELOW_MINIMUM
      ? "the deposit is below the minimum: it counts when more arrives, or when it completes the price"
      : `the deposit is held: ${deposit.reason ?? "no reason given"}`,
  );
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
    throw new UsageError("--base-url and --api-key-env need each other.");
  return {
    timeoutMs: readTimeoutMs(input.values, TIMEOUT_S_DEFAULT),
    privateKey: readEnvVariable(input, "private-key-env"),
    api: baseUrl === undefined || apiKey === undefined ? undefined : { baseUrl, apiKey },
  };
}

async function openSource(input: CommandInput, { api }: PayOptions): Promise<IntentSource> {
  if (api !== undefined) return { read: readViaApi(createApiClient(api)), manifest: undefined };
  const running = await chooseProcessToWrite(input);
  if (running === undefined)
    throw new CommandError(
      "No running process was found. Start `tributary dev`, or give --base-url and --api-key-env.",
    );
  return { read: readViaControl(running), manifest: isDevManifest(running.ready) ? running.ready : undefined };
}

function resolvePayerKey({ privateKey }: PayOptions, manifest: DevManifest | undefined, namespace: Namespace): string {
  const payer = namespace === "solana" ? manifest?.solana.payer : manifest?.payer;
  const key = privateKey ?? payer?.privateKey;
  if (key === undefined) throw new UsageError("Missing option --private-key-env NAME: only the dev world has a payer.");
  return key;
}

type ObservedDeposit = { snapshot: IntentSnapshot; deposit: DepositRecord };
type DepositWait = { read: () => Promise<IntentSnapshot>; txHash: string; timeoutMs: number };

async function waitForDeposit(terminal: Terminal, { read, txHash, timeoutMs }: DepositWait): Promise<ObservedDeposit> {
  const find = ({ deposits }: IntentSnapshot) => deposits.find((deposit) => deposit.txHash === txHash);
  try {
    const snapshot = await pollUntil(read, (latest) => isAtRest(find(latest)), {
      description: "Counting the deposit",
      timeoutMs,
      intervalMs: INTERVAL_MS,
      onRead: (latest) => terminal.progress(formatProgress(find(latest))),
    });
    const deposit = find(snapshot);
    if (deposit === undefined) throw new CommandError("The deposit has disappeared.");
    return { snapshot, deposit };
  } catch (error) {
    terminal.note(`The transfer ${txHash} was sent. Do not pay again: a second payment adds to it.`);
    throw error;
  }
}

/** Whether nothing changes it but more money or an operator. */
function isAtRest(deposit: DepositRecord | undefined): boolean {
  return deposit?.status === "counted" || deposit?.status === "held" || deposit?.reason === BELOW_MINIMUM;
}

function formatProgress(deposit: DepositRecord | undefined): string {
  if (deposit === undefined) return "not seen yet";
  const { status, confirmations, requiredConfirmations, requiredSeconds } = deposit;
  if (requiredSeconds !== null && status === "seen") return `${status}, final after ${requiredSeconds} s`;
  return requiredConfirmations === null
    ? status
    : `${status}, ${confirmations} of ${requiredConfirmations} confirmations`;
}
