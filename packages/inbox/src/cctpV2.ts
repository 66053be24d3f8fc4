import { encodeAddress, encodeBytes32, encodeUint, zeroBytes32 } from "./hex.ts";
import type { Hex } from "./hex.ts";

/** How a route of Circle's Cross-Chain Transfer Protocol, version 2, is travelled: the `config` of such a route. */
export type CctpV2Config = {
  /** TokenMessengerV2 on the chain where the money arrives first. */
  readonly messenger: Hex;
  /** Circle's number of the chain where it ends. */
  readonly domain: number;
  /** 2000 waits for finality; 1000 and less is the fast transfer, which costs a fee. */
  readonly finalityThresholdMin: number;
  /** The most that Circle may keep, in millionths of what is burned, rounded up. */
  readonly feePpmMax: number;
  /**
   * The token account that a payout on Solana is made to. Absent, or 32 zero bytes, when the payout is on an EVM chain:
   * the money then arrives at the inbox's own address.
   */
  readonly recipient?: Hex;
};

/** `abi.encode(config)` as the adapter reads it. Throws a RangeError naming the first field that does not fit. */
export function encodeCctpV2Config(config: CctpV2Config): Hex {
  return `0x${[
    encodeAddress("messenger", config.messenger),
    encodeUint("domain", config.domain, 32),
    encodeUint("finalityThresholdMin", config.finalityThresholdMin, 32),
    encodeUint("feePpmMax", config.feePpmMax, 32),
    encodeBytes32("recipient", config.recipient ?? zeroBytes32),
  ].join("")}`;
}
