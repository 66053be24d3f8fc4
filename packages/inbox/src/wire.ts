import { checksumAddress, parseAddress } from "./checksum.ts";
import { currentHub, hubs, type Hub } from "./hubs.ts";
import { isBytes32 } from "./hex.ts";
import type { Hex } from "./hex.ts";
import type { Terms } from "./terms.ts";

/** `inboxTerms` in JSON. Addresses have EIP-55 checksums. */
export type InboxTerms = {
  readonly version: number;
  readonly hub: string;
  readonly implementation: string;
  readonly salt: string;
  /** Decimal digits, because a chain id may exceed the exact range of a JSON number. */
  readonly settleChainId: string;
  readonly settleToken: string;
  readonly payout: string;
  readonly feeRecipient: string;
  readonly feeBps: number;
  readonly recovery: string;
  /** Unix time in seconds. */
  readonly recoverAfter: number;
  readonly routesRoot: string;
};

/** Converts terms to the JSON form, with the contracts that determine the address. `hub` is the one that the inbox belongs to. */
export function termsToWire(terms: Terms, hub: Hub = currentHub): InboxTerms {
  return {
    version: hub.version,
    hub: checksumAddress(hub.address),
    implementation: checksumAddress(hub.implementation),
    salt: terms.salt,
    settleChainId: terms.settleChainId.toString(),
    settleToken: checksumAddress(terms.settleToken),
    payout: checksumAddress(terms.payout),
    feeRecipient: checksumAddress(terms.feeRecipient),
    feeBps: terms.feeBps,
    recovery: checksumAddress(terms.recovery),
    recoverAfter: terms.recoverAfter,
    routesRoot: terms.routesRoot,
  };
}

/** The published hub that the JSON form names; undefined when its version, hub and implementation are not those of one hub. */
export function hubFromWire(wire: Pick<InboxTerms, "version" | "hub" | "implementation">): Hub | undefined {
  const [address, implementation] = [parseAddress(wire.hub), parseAddress(wire.implementation)];
  return hubs.find(
    (hub) => hub.version === wire.version && hub.address === address && hub.implementation === implementation,
  );
}

/** Parses terms from the JSON form, with addresses in lower case. Throws a RangeError that names the first malformed field. */
export function termsFromWire(wire: InboxTerms): Terms {
  return {
    salt: requireBytes32("salt", wire.salt),
    settleChainId: BigInt(requireChainId(wire.settleChainId)),
    settleToken: requireAddress("settleToken", wire.settleToken),
    payout: requireAddress("payout", wire.payout),
    feeRecipient: requireAddress("feeRecipient", wire.feeRecipient),
    feeBps: requireInteger("feeBps", wire.feeBps, 10_000),
    recovery: requireAddress("recovery", wire.recovery),
    recoverAfter: requireInteger("recoverAfter", wire.recoverAfter, 2 ** 48 - 1),
    routesRoot: requireBytes32("routesRoot", wire.routesRoot),
  };
}

function requireBytes32(name: string, value: unknown): Hex {
  const lower = typeof value === "string" ? value.toLowerCase() : value;
  if (!isBytes32(lower)) throw new RangeError(`${name} must be 32 bytes as 0x and 64 digits`);
  return lower;
}

function requireAddress(name: string, value: unknown): Hex {
  const address = parseAddress(value);
  if (address === undefined) throw new RangeError(`${name} must be an address with a correct checksum`);
  return address;
}

function requireChainId(value: unknown): string {
  const digits = typeof value === "string" && /^(?:0|[1-9][0-9]{0,19})$/.test(value);
  if (!digits || BigInt(value) >= 1n << 64n)
    throw new RangeError("settleChainId must be the decimal digits of a 64-bit number");
  return value;
}

function requireInteger(name: string, value: unknown, maximum: number): number {
  const whole = typeof value === "number" && Number.isSafeInteger(value) && value >= 0 && value <= maximum;
  if (!whole) throw new RangeError(`${name} must be a whole number from 0 to ${maximum}`);
  return value;
}
