import type { SolanaInbox } from "@tributary/inbox/solana/address";
import type { World } from "./world.ts";

// What the fuzzer and the thief compare before and after a transaction.

type Holding = {
  readonly units: bigint;
  readonly lamports: bigint;
  /** Owner, delegate and close authority of a token account, as bytes; empty when there is none. */
  readonly authorities: string;
};

export type Snapshot = {
  readonly holdings: ReadonlyMap<string, Holding>;
  readonly supply: bigint;
};

const UNITS = 64;
const OWNER = 32;
const DELEGATE = 72;
const STATE = 108;
const CLOSER = 129;
const TOKEN_SIZE = 165;

export function takeSnapshot(world: World, addresses: readonly string[], mint: string): Snapshot {
  const holdings = new Map(addresses.map((address) => [address, readHolding(world, address)]));
  return { holdings, supply: world.supply(mint) };
}

function readHolding(world: World, address: string): Holding {
  const account = world.read(address);
  if (account === undefined || account.data.length < TOKEN_SIZE)
    return { units: 0n, lamports: account?.lamports ?? 0n, authorities: "" };
  const { data, lamports } = account;
  const authorities = [data.subarray(OWNER, UNITS), data.subarray(DELEGATE, STATE), data.subarray(CLOSER, TOKEN_SIZE)];
  return {
    units: data.readBigUInt64LE(UNITS),
    lamports,
    authorities: authorities.map((part) => part.toString("hex")).join(" "),
  };
}

/** Change of a token balance; positive when it grew. */
export function gained(before: Snapshot, after: Snapshot, address: string): bigint {
  return (after.holdings.get(address)?.units ?? 0n) - (before.holdings.get(address)?.units ?? 0n);
}

export function lamportsGained(before: Snapshot, after: Snapshot, address: string): bigint {
  return (after.holdings.get(address)?.lamports ?? 0n) - (before.holdings.get(address)?.lamports ?? 0n);
}

export function burned(before: Snapshot, after: Snapshot): bigint {
  return before.supply - after.supply;
}

/** All units of the watched accounts. */
export function totalUnits({ holdings }: Snapshot): bigint {
  return holdings.values().reduce((sum, { units }) => sum + units, 0n);
}

export function feeBpsOf({ terms }: SolanaInbox): bigint {
  return terms.kind === "pay" ? BigInt(terms.feeBps) : 0n;
}
