import type { DepositRecord } from "../deposit/record.ts";
import { formatUnits, parseUnits } from "../kernel/units.ts";
import { openApi } from "./api.ts";
import { CommandFailed, UsageRefused, type Command, type CommandInput } from "./command.ts";
import type { Ready, ReadyChain } from "./dev/ready.ts";
import { findRunning } from "./door/knock.ts";
import { readThroughApi, readThroughDoor, waitUntil, type Reader, type Reading } from "./reading.ts";
import { toJson } from "./terminal.ts";

const INTERVAL_MS = 700;
const TIMEOUT_S_DEFAULT = 120;

export const pay: Command = {
  name: "pay",
  summary: "Send a transfer to an intent's inbox, and wait until the service has counted it",
  positionals: [{ name: "intentId", summary: "the intent to pay, pi_…" }],
  options: {
    amount: { value: "DECIMAL", summary: "how much, such as 12.5; what is missing to the price when left out" },
    token: { value: "TOKEN", summary: "symbol or address; the intent's payout token when left out" },
    chain: { value: "CHAIN", summary: "chain id, CAIP-2 or name; the intent's payout chain when left out" },
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

type Source = { read: Reader; ready: Ready | undefined };

async function runPay(input: CommandInput): Promise<number> {
  const [intentId = ""] = input.positionals;
  const source = await openSource(input);
  const { intent } = await source.read(intentId);
  const chain = chooseChain(input, source.ready, intent);
  const token = chooseToken(input, chain, intent);
  const amountUnits = chooseAmount(input, token, intent);
  const { openPayer } = await import("./payer.ts");
  const payer = await openPayer({ rpcUrl: chain.rpcUrl, privateKey: payerKey(input, source.ready) });
  const shown = `${formatUnits(amountUnits, token.decimals)} ${token.symbol}`;
  input.terminal.note(`paying ${shown} to ${intent.inboxAddress} on ${chain.name}`);
  const sent = await payer.transfer(token.address, intent.inboxAddress, amountUnits);
  input.terminal.note(`in block ${sent.blockNumber}: ${sent.txHash}`);
  if (input.switches.has("no-wait")) return report(input, { txHash: sent.txHash, blockNumber: sent.blockNumber });
  const { reading, deposit } = await waitForDeposit(input, { source, intentId, txHash: sent.txHash });
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

async function openSource({ text, environment }: CommandInput): Promise<Source> {
  const { "base-url": baseUrl, "api-key-env": keyName } = text;
  if (baseUrl === undefined && keyName === undefined) {
    const running = await findRunning(environment);
    if (running === undefined)
      throw new CommandFailed("Nothing runs here. Start `tributary dev`, or give --base-url and --api-key-env.");
    return { read: readThroughDoor(running), ready: (running.ready as Ready | null) ?? undefined };
  }
  if (baseUrl === undefined || keyName === undefined)
    throw new UsageRefused("--base-url and --api-key-env belong together.");
  const apiKey = environment[keyName];
  if (apiKey === undefined) throw new UsageRefused(`The environment variable ${keyName} is not set.`);
  return { read: readThroughApi(openApi({ baseUrl, apiKey })), ready: undefined };
}

function chooseChain({ text }: CommandInput, ready: Ready | undefined, intent: Reading["intent"]): ReadyChain {
  const wanted = text["chain"] ?? `${intent.payout.namespace}:${intent.payout.chainReference}`;
  const rpcUrl = text["rpc-url"];
  const names = ({ caip2, chainId, name }: ReadyChain) => [caip2, String(chainId), name.toLowerCase()];
  const chain = ready?.chains.find((candidate) => names(candidate).includes(wanted.toLowerCase()));
  if (chain !== undefined) return rpcUrl === undefined ? chain : { ...chain, rpcUrl };
  if (rpcUrl !== undefined) return { caip2: wanted, chainId: 0, name: wanted, rpcUrl, tokens: [] };
  const known = ready?.chains.map(({ chainId, name }) => `${chainId} (${name})`).join(", ");
  throw new UsageRefused(
    `The chain ${wanted} is not known here; give ${known === undefined ? "--rpc-url" : `one of ${known}`}.`,
  );
}

type ChosenToken = ReadyChain["tokens"][number];

function chooseToken({ text }: CommandInput, chain: ReadyChain, intent: Reading["intent"]): ChosenToken {
  const { tokenAddress, decimals, railId } = intent.payout;
  const wanted = text["token"];
  const pinned = { symbol: railId.split(":")[1]?.toUpperCase() ?? "", address: tokenAddress, decimals };
  const isPinnedChain = chain.caip2 === `${intent.payout.namespace}:${intent.payout.chainReference}`;
  if (wanted === undefined && isPinnedChain) return pinned;
  const name = (wanted ?? pinned.symbol).toLowerCase();
  const token = [...chain.tokens, ...(isPinnedChain ? [pinned] : [])].find(({ symbol, address }) =>
    [symbol.toLowerCase(), address.toLowerCase()].includes(name),
  );
  if (token !== undefined) return token;
  throw new UsageRefused(
    `There is no token ${wanted ?? pinned.symbol} on ${chain.name}; give one of ${chain.tokens.map(({ symbol }) => symbol).join(", ")}.`,
  );
}

function chooseAmount({ text }: CommandInput, token: ChosenToken, intent: Reading["intent"]): bigint {
  const wanted = text["amount"];
  if (wanted !== undefined) {
    const amountUnits = parseUnits(wanted, token.decimals);
    if (amountUnits !== undefined && amountUnits > 0n) return amountUnits;
    throw new UsageRefused(
      `--amount ${wanted} is no amount of ${token.symbol}: give a decimal with at most ${token.decimals} digits behind the point.`,
    );
  }
  const missing = BigInt(intent.amounts.shortfallUnits);
  if (missing === 0n)
    throw new UsageRefused("Nothing is missing to the price of this intent, so say how much with --amount.");
  const shift = token.decimals - intent.payout.decimals;
  return shift >= 0 ? missing * 10n ** BigInt(shift) : divideUp(missing, 10n ** BigInt(-shift));
}

/** A payer rounds up: a unit less would not reach the price. */
function divideUp(amountUnits: bigint, by: bigint): bigint {
  return (amountUnits + by - 1n) / by;
}

function payerKey({ text, environment }: CommandInput, ready: Ready | undefined): string {
  const name = text["private-key-env"];
  if (name === undefined) {
    if (ready !== undefined) return ready.payer.privateKey;
    throw new UsageRefused("There is no dev payer here; give --private-key-env.");
  }
  const key = environment[name];
  if (key === undefined) throw new UsageRefused(`The environment variable ${name} is not set.`);
  return key;
}

type Waited = { reading: Reading; deposit: DepositRecord };

async function waitForDeposit(
  input: CommandInput,
  of: { source: Source; intentId: string; txHash: string },
): Promise<Waited> {
  const timeoutS = Number(input.text["timeout"] ?? TIMEOUT_S_DEFAULT);
  if (!(timeoutS > 0)) throw new UsageRefused("--timeout takes a number of seconds.");
  const find = ({ deposits }: Reading) => deposits.find(({ txHash }) => txHash === of.txHash);
  const reading = await waitUntil(
    () => of.source.read(of.intentId),
    (now) => ["counted", "held"].includes(find(now)?.status ?? ""),
    {
      what: "The counting of the deposit",
      timeoutMs: timeoutS * 1_000,
      intervalMs: INTERVAL_MS,
      onRead: (now) => input.terminal.progress(progressOf(find(now))),
    },
  );
  const deposit = find(reading);
  if (deposit === undefined) throw new CommandFailed("The deposit has disappeared.");
  return { reading, deposit };
}

function progressOf(deposit: DepositRecord | undefined): string {
  if (deposit === undefined) return "waiting to be seen";
  const { status, confirmations, requiredConfirmations } = deposit;
  return requiredConfirmations === null
    ? status
    : `${status}, ${confirmations} of ${requiredConfirmations} confirmations`;
}
