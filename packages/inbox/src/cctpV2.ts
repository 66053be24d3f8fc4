import { encodeAddress, encodeBytes32, encodeUint, zeroBytes32 } from "./hex.ts";
import type { Hex } from "./hex.ts";

/** The `config` of a route over Circle's Cross-Chain Transfer Protocol, version 2. */
export type CctpV2Config = {
  /** TokenMessengerV2 on the chain where the deposit arrives. */
  readonly messenger: Hex;
  /** Circle's domain number of the destination chain. */
  readonly domain: number;
  /** 2000 waits for finality; 1000 or less selects the fast transfer, which costs a fee. */
  readonly finalityThresholdMin: number;
  /** Circle's maximum fee, in millionths of the burned amount, rounded up. */
  readonly feePpmMax: number;
  /**
   * The token account of a payout on Solana. Absent, or 32 zero bytes, for a payout on an EVM chain: the bridge then pays the inbox's
   * own address there.
   */
  readonly recipient?: Hex;
};

/** `abi.encode(config)` for the adapter. Throws a RangeError that names the first invalid field. */
export function encodeCctpV2Config(config: CctpV2Config): Hex {
  return `0x${[
    encodeAddress("messenger", config.messenger),
    encodeUint("domain", config.domain, 32),
    encodeUint("finalityThresholdMin", config.finalityThresholdMin, 32),
    encodeUint("feePpmMax", config.feePpmMax, 32),
    encodeBytes32("recipient", config.recipient ?? zeroBytes32),
  ].join("")}`;
}
