import { checksumAddress, parseAddress } from "./checksum.ts";
import { currentHub, hubs, type Hub } from "./hubs.ts";
import { encodeUint, isBytes32, toHexDigits } from "./hex.ts";
import type { Hex } from "./hex.ts";
import type { Route } from "./routes.ts";
import type { SolanaInboxTerms } from "./solana/wire.ts";
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
  /**
   * The routes of the root, in its order. The API shows them where it shows one intent; lists and events have only the
   * root.
   */
  readonly routes?: readonly InboxRoute[] | undefined;
  /** The terms of the intent's own inbox on Solana, when it has one. */
  readonly solana?: SolanaInboxTerms | undefined;
  /**
   * For a payout on an EVM chain, the terms of its inboxes on Solana, one a mint: `verifySolanaInbox` proves their
   * addresses. Shown where `routes` are.
   */
  readonly solanaRoutes?: readonly SolanaInboxTerms[] | undefined;
};

/** One route in JSON, as `inboxTerms.routes` lists it. The fields are those of the hub's `Route`. */
export type InboxRoute = {
  /** EIP-155 id in decimal digits. */
  readonly chainId: string;
  readonly token: string;
  readonly adapter: string;
  /** In the token's smallest units, in decimal digits. */
  readonly minAmount: string;
  readonly config: string;
};

/**
 * Converts terms to the JSON form, with the contracts that determine the address. `hub` is the one that the inbox
 * belongs to.
 */
export function termsToWire(terms: Terms, hub: Hub = currentHub): Omit<InboxTerms, "solana" | "solanaRoutes"> {
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

/**
 * The published hub that the JSON form names; undefined when its version, hub and implementation are not those of one
 * hub.
 */
export function hubFromWire(wire: Pick<InboxTerms, "version" | "hub" | "implementation">): Hub | undefined {
  const [address, implementation] = [parseAddress(wire.hub), parseAddress(wire.implementation)];
  return hubs.find(
    (hub) => hub.version === wire.version && hub.address === address && hub.implementation === implementation,
  );
}

/**
 * Parses terms from the JSON form, with addresses in lower case. Throws a RangeError that names the first malformed
 * field.
 */
export function termsFromWire(wire: InboxTerms): Terms {
  return {
    salt: requireBytes32("salt", wire.salt),
    settleChainId: requireDigits("settleChainId", wire.settleChainId, 64),
    settleToken: requireAddress("settleToken", wire.settleToken),
    payout: requireAddress("payout", wire.payout),
    feeRecipient: requireAddress("feeRecipient", wire.feeRecipient),
    feeBps: requireInteger("feeBps", wire.feeBps, 10_000),
    recovery: requireAddress("recovery", wire.recovery),
    recoverAfter: requireInteger("recoverAfter", wire.recoverAfter, 2 ** 48 - 1),
    routesRoot: requireBytes32("routesRoot", wire.routesRoot),
  };
}

export function routesToWire(routes: readonly Route[]): InboxRoute[] {
  return routes.map(({ chainId, token, adapter, minAmount, config }) => ({
    chainId: chainId.toString(),
    token: checksumAddress(token),
    adapter: checksumAddress(adapter),
    minAmount: minAmount.toString(),
    config,
  }));
}

/**
 * Parses routes from the JSON form, with addresses in lower case. Throws a RangeError that names the first malformed
 * field.
 */
export function routesFromWire(wire: readonly InboxRoute[]): Route[] {
  if (!Array.isArray(wire)) throw new RangeError("routes must be a list");
  // A list may have holes, which `map` would leave.
  return Array.from(wire, (route: unknown, index) => {
    const fields: Partial<Record<keyof InboxRoute, unknown>> = typeof route === "object" && route !== null ? route : {};
    const at = (field: keyof InboxRoute) => `routes[${index}].${field}`;
    return {
      chainId: requireDigits(at("chainId"), fields.chainId, 64),
      token: requireAddress(at("token"), fields.token),
      adapter: requireAddress(at("adapter"), fields.adapter),
      minAmount: requireDigits(at("minAmount"), fields.minAmount, 256),
      config: requireBytes(at("config"), fields.config),
    };
  });
}

function requireBytes(name: string, value: unknown): Hex {
  return `0x${toHexDigits(name, typeof value === "string" ? (value as Hex) : "0x?")}`;
}

function requireDigits(name: string, value: unknown, bits: number): bigint {
  const isDigits = typeof value === "string" && /^(?:0|[1-9][0-9]{0,77})$/.test(value);
  if (!isDigits) throw new RangeError(`${name} must be the decimal digits of a ${bits}-bit number`);
  encodeUint(name, BigInt(value), bits);
  return BigInt(value);
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

function requireInteger(name: string, value: unknown, maximum: number): number {
  const whole = typeof value === "number" && Number.isSafeInteger(value) && value >= 0 && value <= maximum;
  if (!whole) throw new RangeError(`${name} must be a whole number from 0 to ${maximum}`);
  return value;
}
