import type { DepositRecord } from "../deposit/record.ts";
import { openApi } from "./api.ts";
import { CHAIN_NAMES } from "./chainName.ts";
import { CommandFailed, UsageRefused, type Command, type CommandInput } from "./command.ts";
import type { Ready } from "./dev/ready.ts";
import { findRunning } from "./door/knock.ts";
import { chooseTransfer } from "./pay/choose.ts";
import { readThroughApi, readThroughDoor, waitUntil, type Reader, type Reading } from "./reading.ts";
import { toJson, type Terminal } from "./terminal.ts";
import { readNamedVariable, readTimeoutMs, readWebUrl } from "./typed.ts";

const INTERVAL_MS = 700;
const TIMEOUT_S_DEFAULT = 120;

export const pay: Command = {
  name: "pay",
  summary: "Send a transfer to an intent's inbox, and wait until the service has counted it",
  positionals: [{ name: "intentId", summary: "the intent to pay, pi_…" }],
  options: {
    amount: { value: "DECIMAL", summary: "how much, such as 12.5; what is missing to the price when left out" },
    token: { value: "TOKEN", summary: "symbol or address; the intent's payout token when left out" },
    chain: { value: "CHAIN", summary: `${CHAIN_NAMES}; the intent's payout chain when left out` },
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
type Typed = {
  timeoutMs: number;
  privateKey: string | undefined;
  api: { baseUrl: string; apiKey: string } | undefined;
};
type Source = { read: Reader; ready: Ready | undefined };

async function runPay(input: CommandInput): Promise<number> {
  const [intentId = ""] = input.positionals;
  // All of it before anything is sent: whoever is refused afterwards types it again, and pays twice.
  const typed = readTyped(input);
  const source = await openSource(input, typed);
  const { intent } = await source.read(intentId);
  const { chain, rpcUrl, token, amountUnits, shown } = chooseTransfer(input.text, source.ready, intent);
  const { openPayer } = await import("./payer.ts");
  const payer = await openPayer({ rpcUrl, privateKey: payerKey(typed, source.ready) });
  if (payer.chainId !== chain.chainId)
    throw new UsageRefused(`--rpc-url is a node of chain ${payer.chainId}, not of ${chain.name} (${chain.chainId}).`);
  input.terminal.note(`paying ${shown} to ${intent.inboxAddress} on ${chain.name}`);
  const sent = await payer.transfer(token.address, intent.inboxAddress, amountUnits);
  input.terminal.note(`in block ${sent.blockNumber}: ${sent.txHash}`);
  if (input.switches.has("no-wait")) return report(input, { txHash: sent.txHash, blockNumber: sent.blockNumber });
  const { reading, deposit } = await waitForDeposit(input.terminal, {
    read: () => source.read(intentId),
    txHash: sent.txHash,
    timeoutMs: typed.timeoutMs,
  });
  const { amounts, status, paymentStatus } = reading.intent;
  report(input, {
    txHash: sent.txHash,
    blockNumber: sent.blockNumber,
    deposit,
    intent: { intentId, status, paymentStatus, amounts },
  });
  if (deposit.status === "counted") return 0;
  input.terminal.note(`the deposit is held: ${deposit.reason ?? "no reason given"}`);
  return 1;
}

function report(
  input: CommandInput,
  result: { txHash: string; blockNumber: bigint; deposit?: DepositRecord; intent?: unknown },
): number {
  if (input.asJson) input.terminal.out(toJson(result));
  else if (result.deposit === undefined) input.terminal.out(result.txHash);
  else input.terminal.out(`${result.txHash} ${result.deposit.status}`);
  return 0;
}

function readTyped(input: CommandInput): Typed {
  readWebUrl(input.text, "rpc-url");
  const baseUrl = readWebUrl(input.text, "base-url");
  const apiKey = readNamedVariable(input, "api-key-env");
  if ((baseUrl === undefined) !== (apiKey === undefined))
    throw new UsageRefused("--base-url and --api-key-env belong together.");
  return {
    timeoutMs: readTimeoutMs(input.text, TIMEOUT_S_DEFAULT),
    privateKey: readNamedVariable(input, "private-key-env"),
    api: baseUrl === undefined || apiKey === undefined ? undefined : { baseUrl, apiKey },
  };
}

async function openSource({ environment }: CommandInput, { api }: Typed): Promise<Source> {
  if (api !== undefined) return { read: readThroughApi(openApi(api)), ready: undefined };
  const running = await findRunning(environment);
  if (running === undefined)
    throw new CommandFailed("Nothing runs here. Start `tributary dev`, or give --base-url and --api-key-env.");
  return { read: readThroughDoor(running), ready: (running.ready as Ready | null) ?? undefined };
}

function payerKey({ privateKey }: Typed, ready: Ready | undefined): string {
  const key = privateKey ?? ready?.payer.privateKey;
  if (key === undefined) throw new UsageRefused("There is no dev payer here; give --private-key-env.");
  return key;
}

type Waited = { reading: Reading; deposit: DepositRecord };
type Waiting = { read: () => Promise<Reading>; txHash: string; timeoutMs: number };

async function waitForDeposit(terminal: Terminal, { read, txHash, timeoutMs }: Waiting): Promise<Waited> {
  const find = ({ deposits }: Reading) => deposits.find((deposit) => deposit.txHash === txHash);
  try {
    const reading = await waitUntil(read, (now) => ["counted", "held"].includes(find(now)?.status ?? ""), {
      what: "The counting of the deposit",
      timeoutMs,
      intervalMs: INTERVAL_MS,
      onRead: (now) => terminal.progress(progressOf(find(now))),
    });
    const deposit = find(reading);
    if (deposit === undefined) throw new CommandFailed("The deposit has disappeared.");
    return { reading, deposit };
  } catch (error) {
    terminal.note(`The money was sent by ${txHash}: paying again would pay twice.`);
    throw error;
  }
}

function progressOf(deposit: DepositRecord | undefined): string {
  if (deposit === undefined) return "waiting to be seen";
  const { status, confirmations, requiredConfirmations } = deposit;
  return requiredConfirmations === null
    ? status
    : `${status}, ${confirmations} of ${requiredConfirmations} confirmations`;
}
