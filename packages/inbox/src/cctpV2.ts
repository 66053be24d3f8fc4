import { encodeAddress, encodeBytes32, encodeUint, toHexDigits, zeroBytes32 } from "./hex.ts";
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
   * The token account of a payout on Solana. Absent, or 32 zero bytes, for a payout on an EVM chain: the bridge then
   * pays the inbox's own address there.
   */
  readonly recipient?: Hex;
};

const PPM = 1_000_000;

/**
 * The two speeds of a route, each a leaf of its own. A cap never changes, and a burn below Circle's minimum fee
 * reverts, so both are well above every published fee; what is paid is Circle's actual fee.
 */
export const cctpV2Speeds = {
  fast: { finalityThresholdMin: 1_000, feePpmMax: 3_000 },
  standard: { finalityThresholdMin: 2_000, feePpmMax: 1_000 },
} as const;

/**
 * The least `minAmount` of a route with this cap, in the token's smallest units: Circle burns only amounts above the
 * highest fee. Throws a RangeError when no amount is.
 */
export function cctpV2MinAmount(feePpmMax: number): bigint {
  if (!Number.isSafeInteger(feePpmMax) || feePpmMax < 0 || feePpmMax >= PPM)
    throw new RangeError(`feePpmMax must be a whole number from 0 to ${PPM - 1}`);
  return BigInt(Math.ceil(PPM / (PPM - feePpmMax)));
}

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

const WORD = 64;
const CONFIG_WORDS = 5;

/**
 * The config that `encodeCctpV2Config` encodes; `recipient` is absent when it is zero. Throws a RangeError for bytes of
 * another shape, also for those that only a lenient decoder would accept.
 */
export function decodeCctpV2Config(bytes: Hex): CctpV2Config {
  const digits = toHexDigits("config", bytes);
  if (digits.length !== CONFIG_WORDS * WORD) throw new RangeError(`config must have ${CONFIG_WORDS} words of 32 bytes`);
  const word = (index: number) => digits.slice(index * WORD, (index + 1) * WORD);
  const recipient: Hex = `0x${word(4)}`;
  const config: CctpV2Config = {
    messenger: `0x${word(0).slice(24)}`,
    domain: Number(BigInt(`0x${word(1)}`)),
    finalityThresholdMin: Number(BigInt(`0x${word(2)}`)),
    feePpmMax: Number(BigInt(`0x${word(3)}`)),
    ...(recipient === zeroBytes32 ? {} : { recipient }),
  };
  // Encoding again refuses padding that is not zero and numbers beyond 32 bits.
  if (encodeCctpV2Config(config).slice(2) !== digits)
    throw new RangeError("config must have the encoding of the adapter");
  return config;
}
