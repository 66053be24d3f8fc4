import {
  decodeFunctionData,
  encodeAbiParameters,
  encodeEventTopics,
  parseAbi,
  toFunctionSelector,
  type Hex,
} from "viem";
import { parseBurnMessage, toMessageAccount, type BurnMessage } from "@tributary/inbox/burnMessage";
import type { BridgeContracts } from "../../../src/chain/evm/bridge/provenCrossings.ts";
import { decodeAddress, decodeUint, encodeCall, encodeWord, selectorOf } from "./abiWords.ts";
import type { CallOutcome, Machine, MachineCall } from "./machine.ts";
import { isTransferSuccessful, tokenCalls } from "./token.ts";
import { hashOf } from "./transaction.ts";

// A short model of the contracts of Circle's bridge: a messenger that burns, a transmitter that receives, and a minter.
// Events and messages have the real bytes; a signature is a hash of its message.

export type BridgeSpec = BridgeContracts & {
  domain: number;
  minter: string;
  /** Receives what the bridge keeps. */
  feeRecipient: string;
  /** May deny accounts, and set the least fee and the largest burn. */
  owner: string;
  token: string;
  /** The same token on each other domain, as 32 bytes. */
  remoteTokens: ReadonlyMap<number, string>;
};

const abi = parseAbi([
  "function depositForBurn(uint256 amount, uint32 domain, bytes32 recipient, address token, bytes32 caller, uint256 maxFee, uint32 threshold)",
  "function receiveMessage(bytes message, bytes attestation) returns (bool success)",
  "function usedNonces(bytes32 nonce) view returns (uint256)",
]);
const events = parseAbi([
  "event DepositForBurn(address indexed burnToken, uint256 amount, address indexed depositor, bytes32 mintRecipient, uint32 destinationDomain, bytes32 destinationTokenMessenger, bytes32 destinationCaller, uint256 maxFee, uint32 indexed minFinalityThreshold, bytes hookData)",
  "event MessageReceived(address indexed caller, uint32 sourceDomain, bytes32 indexed nonce, bytes32 sender, uint32 indexed finalityThresholdExecuted, bytes messageBody)",
]);

export const bridgeAbi = abi;
const DENY = toFunctionSelector("denylist(address)");
const ALLOW = toFunctionSelector("unDenylist(address)");
const SET_MIN_FEE = toFunctionSelector("setMinFee(uint256)");
const SET_BURN_LIMIT = toFunctionSelector("setBurnLimit(uint256)");

/** Calls of the bridge's owner. A burn limit of 0 means none; a least fee is in ten millionths. */
export const bridgeCalls = {
  deny: (address: string): string => encodeCall(DENY, address),
  allow: (address: string): string => encodeCall(ALLOW, address),
  setMinFee: (fee: bigint): string => encodeCall(SET_MIN_FEE, fee),
  setBurnLimit: (units: bigint): string => encodeCall(SET_BURN_LIMIT, units),
};

const CALL_GAS = 120_000n;
const MIN_FEE_PARTS = 10_000_000n;
const FINALIZED = 2_000;
const NO_WORD: Hex = `0x${"0".repeat(64)}`;
/** Offsets in a message, in bytes. */
const BYTES = {
  nonce: 12,
  sender: 44,
  thresholdExecuted: 144,
  body: 148,
  feeMax: 280,
  feeExecuted: 312,
  expiration: 344,
};

const deniedKey = (messenger: string, address: string) => `denied/${messenger}/${address}`;
const minFeeKey = (messenger: string) => `least fee/${messenger}`;
export const burnLimitKey = (minter: string): string => `burn limit/${minter}`;
export const usedNonceKey = (transmitter: string, nonce: string): string => `used/${transmitter}/${nonce}`;

/** Runs one call of the messenger or the transmitter. */
export function callBridge(machine: Machine, bridge: BridgeSpec, call: MachineCall): CallOutcome {
  if (call.from === bridge.owner && call.to === bridge.messenger) return administer(machine, bridge, call.data);
  let decoded;
  try {
    decoded = decodeFunctionData({ abi, data: call.data as Hex });
  } catch {
    return reverted("");
  }
  switch (decoded.functionName) {
    case "depositForBurn": {
      const [units, domain, recipient, token, , feeMax, threshold] = decoded.args;
      const burn = { units, domain, recipient, token: token.toLowerCase() as Hex, feeMax, threshold };
      return call.to === bridge.messenger
        ? depositForBurn(machine, bridge, { from: call.from as Hex, ...burn })
        : reverted("");
    }
    case "receiveMessage": {
      const [message, attestation] = decoded.args;
      return call.to === bridge.transmitter
        ? receiveMessage(machine, bridge, { from: call.from as Hex, message, attestation })
        : reverted("");
    }
    case "usedNonces": {
      const used = machine.state.get(usedNonceKey(bridge.transmitter, decoded.args[0]));
      return { ok: true, output: `0x${encodeWord(used)}` };
    }
  }
}

/** The attesters' signature of a message. */
export function signMessage(message: string): Hex {
  const digest = hashOf("attestation", message.toLowerCase());
  return `${digest as Hex}${digest.slice(2)}1b`;
}

/** Fills in what a burn leaves empty. */
export function completeMessage(
  message: string,
  fields: { nonce: string; threshold: number; feeUnits: bigint; expirationBlock: bigint },
): Hex {
  let digits = message.slice(2);
  for (const [start, bytes] of [
    [BYTES.nonce, fields.nonce.slice(2)],
    [BYTES.thresholdExecuted, fields.threshold.toString(16).padStart(8, "0")],
    [BYTES.feeExecuted, encodeWord(fields.feeUnits)],
    [BYTES.expiration, encodeWord(fields.expirationBlock)],
  ] as const)
    digits = digits.slice(0, start * 2) + bytes + digits.slice(start * 2 + bytes.length);
  return `0x${digits}`;
}

/** The most that a burn allows the bridge to keep, and the finality that it asks for. */
export function termsOfBurn(message: string): { feeMaxUnits: bigint; threshold: number } {
  return {
    feeMaxUnits: BigInt(wordAt(message, BYTES.feeMax)),
    threshold: numberAt(message, BYTES.thresholdExecuted - 4),
  };
}

function administer(machine: Machine, { messenger, minter }: BridgeSpec, data: string): CallOutcome {
  switch (selectorOf(data)) {
    case DENY:
    case ALLOW:
      machine.state.set(deniedKey(messenger, decodeAddress(data, 0)), selectorOf(data) === DENY ? 1n : 0n);
      return { ok: true, output: "0x" };
    case SET_MIN_FEE:
      machine.state.set(minFeeKey(messenger), decodeUint(data, 0));
      return { ok: true, output: "0x" };
    case SET_BURN_LIMIT:
      machine.state.set(burnLimitKey(minter), decodeUint(data, 0));
      return { ok: true, output: "0x" };
    default:
      return reverted("");
  }
}

type BurnCall = {
  from: Hex;
  units: bigint;
  domain: number;
  recipient: Hex;
  token: Hex;
  feeMax: bigint;
  threshold: number;
};

function depositForBurn(machine: Machine, bridge: BridgeSpec, burn: BurnCall): CallOutcome {
  machine.useGas(CALL_GAS);
  const { from, units, domain, recipient, token, feeMax, threshold } = burn;
  const { state } = machine;
  const { messenger, minter, transmitter } = bridge;
  if (state.get(deniedKey(messenger, from)) > 0n) return reverted("Denylistable: account is on denylist");
  if (units === 0n || feeMax >= units) return reverted("Max fee must be less than amount");
  const minFee = state.get(minFeeKey(messenger));
  const leastUnits = (units * minFee) / MIN_FEE_PARTS;
  if (minFee > 0n && feeMax < (leastUnits === 0n ? 1n : leastUnits)) return reverted("Insufficient max fee");
  const remote = bridge.remoteMessengers.get(domain) as Hex | undefined;
  if (remote === undefined || token !== bridge.token) return reverted("No TokenMessenger for domain");
  const limit = state.get(burnLimitKey(minter));
  if (limit > 0n && units > limit) return reverted("Burn amount exceeds per tx limit");
  const taken = machine.call({ from, to: token, data: tokenCalls.transfer(minter, units) });
  if (!isTransferSuccessful(taken)) return reverted("Transfer operation failed");
  if (!machine.call({ from: minter, to: token, data: tokenCalls.burn(units) }).ok) return reverted("Burn failed");
  const word = (value: bigint | string) => encodeWord(value);
  const number = (value: number) => value.toString(16).padStart(8, "0");
  const body = [number(1), ...[token, recipient, units, from, feeMax, 0n, 0n].map(word)].join("");
  const head = [
    number(1),
    number(bridge.domain),
    number(domain),
    word(0n),
    word(messenger),
    word(remote),
    word(0n),
  ].join("");
  machine.log({ address: transmitter, sent: `0x${head}${number(threshold)}${number(0)}${body}` });
  const topics = encodeEventTopics({
    abi: events,
    eventName: "DepositForBurn",
    args: { burnToken: token, depositor: from, minFinalityThreshold: threshold },
  });
  const data = encodeAbiParameters(
    ["uint256", "bytes32", "uint32", "bytes32", "bytes32", "uint256", "bytes"].map((type) => ({ type })),
    [units, recipient, domain, remote, NO_WORD, feeMax, "0x"],
  );
  machine.log({ address: messenger, topics: topics as string[], data });
  return { ok: true, output: "0x" };
}

type ReceiveCall = { from: Hex; message: Hex; attestation: Hex };

function receiveMessage(
  machine: Machine,
  bridge: BridgeSpec,
  { from, message, attestation }: ReceiveCall,
): CallOutcome {
  machine.useGas(CALL_GAS);
  if (attestation.toLowerCase() !== signMessage(message)) return reverted("Invalid signature: not attester");
  const parsed = parseBurnMessage(message);
  if (parsed?.settleDomain !== bridge.domain) return reverted("Invalid destination domain");
  const { sourceDomain, nonce } = parsed;
  const key = usedNonceKey(bridge.transmitter, nonce);
  if (machine.state.get(key) > 0n) return reverted("Nonce already used");
  const sender = wordAt(message, BYTES.sender);
  if (bridge.remoteMessengers.get(sourceDomain) !== sender) return reverted("Remote TokenMessenger unsupported");
  if (bridge.remoteTokens.get(sourceDomain) !== parsed.token) return reverted("Mint token not supported");
  const threshold = numberAt(message, BYTES.thresholdExecuted);
  const refusal = threshold < FINALIZED ? refusalOfFast(machine, parsed, message) : undefined;
  if (refusal !== undefined) return reverted(refusal);
  machine.state.set(key, 1n);
  const feeUnits = threshold < FINALIZED ? parsed.feeUnits : 0n;
  if (!mint(machine, bridge, { to: toAddress(parsed.recipient), units: parsed.units - feeUnits }))
    return reverted("Mint operation failed");
  if (feeUnits > 0n && !mint(machine, bridge, { to: bridge.feeRecipient, units: feeUnits }))
    return reverted("Mint operation failed");
  const topics = encodeEventTopics({
    abi: events,
    eventName: "MessageReceived",
    args: { caller: from, nonce: nonce as Hex, finalityThresholdExecuted: threshold },
  });
  const data = encodeAbiParameters(
    [{ type: "uint32" }, { type: "bytes32" }, { type: "bytes" }],
    [sourceDomain, sender as Hex, `0x${message.slice(2 + BYTES.body * 2)}`],
  );
  machine.log({ address: bridge.transmitter, topics: topics as string[], data });
  return { ok: true, output: `0x${encodeWord(1n)}` };
}

function refusalOfFast(machine: Machine, parsed: BurnMessage, message: string): string | undefined {
  const { expirationBlock, feeUnits, units } = parsed;
  if (expirationBlock !== 0n && expirationBlock <= machine.blockNumber) return "Message expired and must be re-signed";
  return feeUnits >= units || feeUnits > termsOfBurn(message).feeMaxUnits ? "Fee exceeds max fee" : undefined;
}

function mint(machine: Machine, { minter, token }: BridgeSpec, { to, units }: { to: string; units: bigint }): boolean {
  return isTransferSuccessful(machine.call({ from: minter, to: token, data: tokenCalls.mint(to, units) }));
}

function wordAt(message: string, start: number): string {
  return `0x${message.slice(2 + start * 2, 2 + (start + 32) * 2)}`.toLowerCase();
}

function numberAt(message: string, start: number): number {
  return Number(`0x${message.slice(2 + start * 2, 2 + (start + 4) * 2)}`);
}

function toAddress(account: string): string {
  return `0x${account.slice(-40)}`;
}

function reverted(reason: string): CallOutcome {
  return { ok: false, output: reason };
}

/** The bridge of several chains that share it: all know each other. */
export function createBridges(
  sides: readonly Pick<BridgeSpec, "messenger" | "transmitter" | "minter" | "token" | "owner" | "feeRecipient">[],
): BridgeSpec[] {
  const accounts = (of: "messenger" | "token", own: number) =>
    new Map(sides.flatMap((side, domain) => (domain === own ? [] : [[domain, toMessageAccount(side[of])] as const])));
  return sides.map((side, domain) => ({
    ...side,
    domain,
    remoteMessengers: accounts("messenger", domain),
    remoteTokens: accounts("token", domain),
  }));
}
