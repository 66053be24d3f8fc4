import type { Machine, CallOutcome } from "./machine.ts";
import { blockedKey, pausedKey, unitsKey } from "./state.ts";
import { decodeAddress, encodeCall, selectorOf, decodeUint, encodeWord } from "./abiWords.ts";

/**
 * How a token behaves. `plain` reverts on failure and returns true; `silent` returns nothing, as USDT does; `false`
 * returns false where others revert; `taxed` keeps a hundredth of every transfer for its owner.
 */
export type TokenKind = "plain" | "silent" | "false" | "taxed";

export type TokenSpec = {
  address: string;
  symbol: string;
  decimals: number;
  kind: TokenKind;
  owner: string;
  /** May mint and burn, as the owner may. */
  minter?: string | undefined;
};

const TRANSFER = "0xa9059cbb";
const BALANCE_OF = "0x70a08231";
const DECIMALS = "0x313ce567";
const MINT = "0x40c10f19";
const BURN = "0x42966c68";
const PAUSE = "0x8456cb59";
const UNPAUSE = "0x3f4ba83a";
const BLOCK = "0xf9f92be4";
const UNBLOCK = "0x1a895266";

export const tokenCalls = {
  transfer: (to: string, units: bigint): string => encodeCall(TRANSFER, to, units),
  mint: (to: string, units: bigint): string => encodeCall(MINT, to, units),
  burn: (units: bigint): string => encodeCall(BURN, units),
  pause: (): string => encodeCall(PAUSE),
  unpause: (): string => encodeCall(UNPAUSE),
  block: (address: string): string => encodeCall(BLOCK, address),
  unblock: (address: string): string => encodeCall(UNBLOCK, address),
};

const REVERTED: CallOutcome = { ok: false, output: "0x" };
const TRUE: CallOutcome = { ok: true, output: `0x${encodeWord(1n)}` };
const FALSE: CallOutcome = { ok: true, output: `0x${encodeWord(0n)}` };
const EMPTY_RETURN: CallOutcome = { ok: true, output: "0x" };

/** Runs one call of a token. The model trusts the caller, because it has no signatures. */
export function callToken(machine: Machine, token: TokenSpec, call: { from: string; data: string }): CallOutcome {
  const { from, data } = call;
  const isOwner = from === token.owner;
  switch (selectorOf(data)) {
    case TRANSFER:
      return transfer(machine, token, { from, to: decodeAddress(data, 0), units: decodeUint(data, 1) });
    case BALANCE_OF:
      return {
        ok: true,
        output: `0x${encodeWord(machine.state.get(unitsKey(token.address, decodeAddress(data, 0))))}`,
      };
    case DECIMALS:
      return { ok: true, output: `0x${encodeWord(BigInt(token.decimals))}` };
    case MINT:
      return isOwner || from === token.minter
        ? mint(machine, token, { to: decodeAddress(data, 0), units: decodeUint(data, 1) })
        : REVERTED;
    case BURN:
      return from === token.minter ? burn(machine, token, { from, units: decodeUint(data, 0) }) : REVERTED;
    case PAUSE:
    case UNPAUSE:
      return isOwner ? setFlag(machine, pausedKey(token.address), selectorOf(data) === PAUSE) : REVERTED;
    case BLOCK:
    case UNBLOCK:
      return isOwner
        ? setFlag(machine, blockedKey(token.address, decodeAddress(data, 0)), selectorOf(data) === BLOCK)
        : REVERTED;
    default:
      return REVERTED;
  }
}

/** A transfer succeeds when the call returns true, or nothing from an account with code. */
export function isTransferSuccessful({ ok, output }: CallOutcome): boolean {
  return ok && (output === "0x" || output === TRUE.output);
}

function transfer(
  machine: Machine,
  token: TokenSpec,
  { from, to, units }: { from: string; to: string; units: bigint },
): CallOutcome {
  machine.useGas(10_000n);
  const { state } = machine;
  const { address } = token;
  if (isBarred(machine, address, [from, to]) || state.get(unitsKey(address, from)) < units || /^0x0{40}$/.test(to)) {
    return token.kind === "false" ? FALSE : REVERTED;
  }
  const taxUnits = token.kind === "taxed" ? units / 100n : 0n;
  move(machine, address, { from, to, units: units - taxUnits });
  if (taxUnits > 0n) move(machine, address, { from, to: token.owner, units: taxUnits });
  return token.kind === "silent" ? EMPTY_RETURN : TRUE;
}

function move(machine: Machine, token: string, { from, to, units }: { from: string; to: string; units: bigint }): void {
  machine.state.add(unitsKey(token, from), -units);
  machine.state.add(unitsKey(token, to), units);
  machine.log({ address: token, transfer: { from, to, units } });
}

function isBarred({ state }: Machine, token: string, parties: readonly string[]): boolean {
  return state.get(pausedKey(token)) > 0n || parties.some((party) => state.get(blockedKey(token, party)) > 0n);
}

function burn(machine: Machine, { address }: TokenSpec, { from, units }: { from: string; units: bigint }): CallOutcome {
  if (isBarred(machine, address, [from]) || machine.state.get(unitsKey(address, from)) < units) return REVERTED;
  machine.state.add(unitsKey(address, from), -units);
  machine.log({ address, transfer: { from, to: `0x${"0".repeat(40)}`, units } });
  return EMPTY_RETURN;
}

function mint(machine: Machine, token: TokenSpec, { to, units }: { to: string; units: bigint }): CallOutcome {
  if (isBarred(machine, token.address, [to])) return REVERTED;
  machine.state.add(unitsKey(token.address, to), units);
  machine.log({ address: token.address, transfer: { from: `0x${"0".repeat(40)}`, to, units } });
  return TRUE;
}

function setFlag(machine: Machine, key: string, isSet: boolean): CallOutcome {
  machine.state.set(key, isSet ? 1n : 0n);
  machine.log({ address: key });
  return TRUE;
}
