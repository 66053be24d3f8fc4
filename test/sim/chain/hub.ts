import { computeInboxAddress } from "@tributary/inbox/address";
import { hubAddress } from "@tributary/inbox/hub";
import { hubAbi } from "@tributary/inbox/hubAbi";
import type { Terms } from "@tributary/inbox/terms";
import { decodeFunctionData, toFunctionSelector, type Hex } from "viem";
import { bridgeInbox, deployInbox, receiveForInbox } from "./hubBridge.ts";
import type { Machine, CallOutcome } from "./machine.ts";
import { codeKey, unitsKey } from "./state.ts";
import { isTransferSuccessful, tokenCalls } from "./token.ts";
import { encodeWord } from "./abiWords.ts";

// A short model of the hub's contracts. An inbox pays only its pinned payout and fee. A failing item leaves the rest of
// its batch unaffected, and an empty inbox is skipped. `rescue` is missing, because no simulation lasts half a year.

const NO_FAILURE = "00000000";
const BPS = 10_000n;
const FEE_BPS_MAX = 1_000;
const FEE_LEG_GAS_LEFT = 220_000n;
const ITEM_GAS_RESERVE = 160_000n;

const errorSelectors = {
  wrongChain: errorSelector("WrongChain"),
  feeTooHigh: errorSelector("FeeTooHigh"),
  balanceUnreadable: errorSelector("BalanceUnreadable"),
  payoutFailed: errorSelector("PayoutFailed"),
  transferFailed: errorSelector("TransferFailed"),
  feeLegStarved: errorSelector("FeeLegStarved"),
};

function errorSelector(name: string): string {
  return toFunctionSelector(`${name}()`).slice(2);
}

/** The result of a batch item: the units that left the inbox, or the error's selector. */
type SettleResult = { units: bigint; failure: string };

/** `minter`: of the bridge on this chain; undefined without one. */
export function callHub(machine: Machine, data: string, minter?: string): CallOutcome {
  const call = decode(data);
  switch (call?.functionName) {
    case "settle": {
      return settleAlone(machine, lowercaseAddresses(call.args[0]));
    }
    case "settleMany":
      return settleMany(machine, call.args[0].map(lowercaseAddresses), call.args[1]);
    case "settleNetted":
      return settleNetted(machine, { shared: lowercaseAddresses(call.args[0]), salts: call.args[1] }, call.args[2]);
    case "bridge": {
      const [terms, route, proof] = call.args;
      if (minter === undefined) return { ok: false, output: "0x" };
      const lower = { ...route, token: lowercase(route.token), adapter: lowercase(route.adapter) };
      return bridgeInbox(machine, minter, { terms: lowercaseAddresses(terms), route: lower, proof });
    }
    case "receiveAndSettle": {
      const [transmitter, message, attestation, terms] = call.args;
      const received = receiveForInbox(machine, { transmitter, message, attestation });
      const settled = settleAlone(machine, lowercaseAddresses(terms));
      return settled.ok
        ? { ok: true, output: `0x${encodeWord(received ? 1n : 0n)}${settled.output.slice(2)}` }
        : settled;
    }
    default:
      return { ok: false, output: "0x" };
  }
}

function settleAlone(machine: Machine, terms: Terms): CallOutcome {
  const { units, failure } = settle(machine, terms);
  return failure === NO_FAILURE
    ? { ok: true, output: `0x${encodeWord(units)}` }
    : { ok: false, output: `0x${failure}` };
}

type HubCall = ReturnType<typeof decodeFunctionData<typeof hubAbi>>;

/** Caches decoded calls, because a chain simulates, estimates, sends and mines the same bytes repeatedly. */
const decoded = new Map<string, HubCall | undefined>();
const DECODED_MAX = 2_000;

function decode(data: string): HubCall | undefined {
  if (decoded.has(data)) return decoded.get(data);
  if (decoded.size > DECODED_MAX) decoded.clear();
  let call: HubCall | undefined;
  try {
    call = decodeFunctionData({ abi: hubAbi, data: data as Hex });
  } catch {
    call = undefined;
  }
  decoded.set(data, call);
  return call;
}

/** The decoder returns checksummed addresses. */
function lowercaseAddresses(terms: Terms): Terms {
  return {
    ...terms,
    settleToken: lowercase(terms.settleToken),
    payout: lowercase(terms.payout),
    feeRecipient: lowercase(terms.feeRecipient),
    recovery: lowercase(terms.recovery),
  };
}

function lowercase(address: Hex): Hex {
  return address.toLowerCase() as Hex;
}

function settleMany(machine: Machine, items: readonly Terms[], itemGas: bigint): CallOutcome {
  const failures: string[] = [];
  for (const terms of items) {
    if (isStarving(machine, itemGas)) return starved(failures.length);
    failures.push(settleItem(machine, terms, itemGas));
  }
  return { ok: true, output: encodeFailures(failures) };
}

/** Whether the next item of a batch could get less than its gas. */
function isStarving(machine: Machine, itemGas: bigint): boolean {
  return machine.gasLeft < itemGas + itemGas / 63n + ITEM_GAS_RESERVE;
}

function starved(index: number): CallOutcome {
  return { ok: false, output: `${toFunctionSelector("Starved(uint256)")}${encodeWord(BigInt(index))}` };
}

/** Settles one item of a batch and logs its failure. */
function settleItem(machine: Machine, terms: Terms, itemGas: bigint): string {
  const { failure } = settle(machine, terms, itemGas);
  const isStarved = failure === errorSelectors.feeLegStarved;
  if (failure !== NO_FAILURE)
    machine.log({ address: hubAddress, ...(isStarved ? { starvedInbox: computeInboxAddress(terms) } : {}) });
  return failure;
}

/** With `itemGas` the inbox has exactly that, without it everything that is left. */
function settle(machine: Machine, terms: Terms, itemGas?: bigint): SettleResult {
  machine.useGas(8_000n);
  const failure = validateTerms(machine, terms);
  if (failure !== undefined) return { units: 0n, failure };
  const inbox = computeInboxAddress(terms);
  const gross = balanceOf(machine, terms.settleToken, inbox);
  if (gross === undefined) return { units: 0n, failure: errorSelectors.balanceUnreadable };
  if (gross === 0n) return { units: 0n, failure: NO_FAILURE };
  deployInbox(machine, inbox);
  const feeUnits = computeFee(gross, terms.feeBps);
  const unused = itemGas === undefined ? 0n : machine.gasLeft - itemGas;
  const payment = { terms, from: inbox, netUnits: gross - feeUnits, feeUnits, unused };
  const unpaid = runAtomically(machine, () => pay(machine, payment));
  if (unpaid !== undefined) return { units: 0n, failure: unpaid };
  machine.log({ address: hubAddress });
  return { units: gross, failure: NO_FAILURE };
}

/** Settles inboxes with one payout and one fee: pulls from each inbox, then pays out once. */
function settleNetted(
  machine: Machine,
  { shared, salts }: { shared: Terms; salts: readonly Hex[] },
  itemGas: bigint,
): CallOutcome {
  const failure = validateTerms(machine, shared);
  if (failure !== undefined) return { ok: false, output: `0x${failure}` };
  const pulled: SettleResult[] = [];
  for (const salt of salts) {
    if (isStarving(machine, itemGas)) return starved(pulled.length);
    pulled.push(pull(machine, { ...shared, salt }));
  }
  const grossUnits = pulled.reduce((sum, { units }) => sum + units, 0n);
  const output = encodeFailures(pulled.map((one) => one.failure));
  if (grossUnits === 0n) return { ok: true, output };
  const feeUnits = pulled.reduce((sum, { units }) => sum + computeFee(units, shared.feeBps), 0n);
  const unpaid = pay(machine, { terms: shared, from: hubAddress, netUnits: grossUnits - feeUnits, feeUnits });
  if (unpaid !== undefined) return { ok: false, output: `0x${unpaid}` };
  machine.log({ address: hubAddress });
  return { ok: true, output };
}

function pull(machine: Machine, terms: Terms): SettleResult {
  machine.useGas(8_000n);
  const inbox = computeInboxAddress(terms);
  const units = balanceOf(machine, terms.settleToken, inbox);
  if (units === undefined) return { units: 0n, failure: errorSelectors.balanceUnreadable };
  if (units === 0n) return { units, failure: NO_FAILURE };
  deployInbox(machine, inbox);
  const isPulled = send(machine, { token: terms.settleToken, from: inbox, to: hubAddress, units });
  return isPulled ? { units, failure: NO_FAILURE } : { units: 0n, failure: errorSelectors.transferFailed };
}

/** `unused`: gas of the transaction that the payment does not get. */
type Payment = { terms: Terms; from: string; netUnits: bigint; feeUnits: bigint; unused?: bigint };

/**
 * Pays the payout first, then the fee. A fee that fails goes to the payout, unless it may have failed for lack of gas.
 * Returns the selector of the error, if any.
 */
function pay(machine: Machine, { terms, from, netUnits, feeUnits, unused = 0n }: Payment): string | undefined {
  const { settleToken: token, payout, feeRecipient } = terms;
  if (!send(machine, { token, from, to: payout, units: netUnits })) return errorSelectors.payoutFailed;
  const gasLeft = machine.gasLeft - unused;
  if (feeUnits === 0n || send(machine, { token, from, to: feeRecipient, units: feeUnits })) return undefined;
  if (gasLeft < FEE_LEG_GAS_LEFT) return errorSelectors.feeLegStarved;
  return send(machine, { token, from, to: payout, units: feeUnits }) ? undefined : errorSelectors.payoutFailed;
}

function send(machine: Machine, of: { token: string; from: string; to: string; units: bigint }): boolean {
  return isTransferSuccessful(
    machine.call({ from: of.from, to: of.token, data: tokenCalls.transfer(of.to, of.units) }),
  );
}

/** Runs all of the work or, when it returns an error, none of it. */
function runAtomically(machine: Machine, work: () => string | undefined): string | undefined {
  const mark = machine.state.snapshot();
  const logCount = machine.logs.length;
  const error = work();
  if (error === undefined) return undefined;
  machine.state.revertTo(mark);
  machine.truncateLogs(logCount);
  return error;
}

function validateTerms(machine: Machine, terms: Terms): string | undefined {
  if (terms.settleChainId !== machine.chainId) return errorSelectors.wrongChain;
  return terms.feeBps > FEE_BPS_MAX ? errorSelectors.feeTooHigh : undefined;
}

/** Undefined when the token does not exist. */
function balanceOf(machine: Machine, token: string, owner: string): bigint | undefined {
  return machine.state.get(codeKey(token)) > 0n ? machine.state.get(unitsKey(token, owner)) : undefined;
}

function computeFee(units: bigint, feeBps: number): bigint {
  return (units * BigInt(feeBps)) / BPS;
}

function encodeFailures(selectors: readonly string[]): string {
  const words = selectors.map((selector) => selector.padEnd(64, "0"));
  return `0x${encodeWord(32n)}${encodeWord(BigInt(selectors.length))}${words.join("")}`;
}
