import {
  cloneCreationCodeHash,
  hubAddress,
  hubCodeHash,
  hubSalt,
  implementationAddress,
  inboxVersion,
} from "./hub.generated.ts";
import type { Hex } from "./hex.ts";

/** A published hub. An inbox belongs to one of them permanently. */
export type Hub = {
  /** `inboxTerms.version` on the wire. */
  readonly version: number;
  readonly address: Hex;
  /** The code that its inboxes delegate to. */
  readonly implementation: Hex;
  /** Keccak-256 of the code that creates an inbox. */
  readonly cloneCreationCodeHash: Hex;
  /** Salt of the hub at the deterministic deployer. */
  readonly salt: Hex;
  /** Keccak-256 of the hub's deployed code. */
  readonly codeHash: Hex;
  /** Whether `settleMany` and `settleNetted` take the gas of an item as their last parameter. */
  readonly takesItemGas: boolean;
};

/** The hub of intents that were created before version 2. */
export const firstHub: Hub = {
  version: 1,
  address: "0xda62f720e8b774cfb24d7e9161d056ec18e4fba9",
  implementation: "0xe91e7a01f1d2f79f1810197728333bade5aca1b5",
  cloneCreationCodeHash: "0xb62a9f3cc35e6347d827b96133713c183d2d172ae90e353b326bdaf9620f819c",
  salt: "0x7f2a4667fc5a5261b32f8be093ac497379f0e5b5ab2c69df5f0620bd6837e62d",
  codeHash: "0x0d9fa83ff4f4c24ceb48695673918791e9fdba1deb30b688bbc34274a803f564",
  takesItemGas: false,
};

/** The hub of new intents. */
export const currentHub: Hub = {
  version: inboxVersion,
  address: hubAddress,
  implementation: implementationAddress,
  cloneCreationCodeHash,
  salt: hubSalt,
  codeHash: hubCodeHash,
  takesItemGas: true,
};

/** Every published hub, the oldest first. */
export const hubs: readonly Hub[] = [firstHub, currentHub];

/** The most basis points of a fee: no hub settles an inbox with more. */
export const feeBpsMax = 1_000;

/**
 * The gas that each item of a batch gets. A payout and a refused fee of the most expensive widespread token need less;
 * the transaction pays only for what an item uses.
 */
export const settleItemGas = 500_000n;

/** The hub at an address in lower case; undefined for an address that is no published hub. */
export function findHub(address: string): Hub | undefined {
  return hubs.find((hub) => hub.address === address);
}
