import { fc } from "../../../test/support/properties.ts";
import type { Route } from "@tributary/inbox/routes";
import type { Hex, Terms } from "@tributary/inbox/terms";

/** Hexadecimal text of exactly `bytes` bytes. */
function anyHex(bytes: number): fc.Arbitrary<Hex> {
  return fc
    .uint8Array({ minLength: bytes, maxLength: bytes })
    .map((value): Hex => `0x${Buffer.from(value).toString("hex")}`);
}

/** Bytes of any length up to 100. */
const anyBytes: fc.Arbitrary<Hex> = fc.integer({ min: 0, max: 100 }).chain(anyHex);

export const anyBytes32 = anyHex(32);
export const anyAddress = anyHex(20);

/** Terms over the full range of every field that the hub accepts. */
export const anyTerms: fc.Arbitrary<Terms> = fc.record(
  {
    salt: anyBytes32,
    settleChainId: fc.bigInt({ min: 0n, max: (1n << 64n) - 1n }),
    settleToken: anyAddress,
    payout: anyAddress,
    feeRecipient: anyAddress,
    feeBps: fc.integer({ min: 0, max: 10_000 }),
    recovery: anyAddress,
    recoverAfter: fc.integer({ min: 0, max: 2 ** 48 - 1 }),
    routesRoot: anyBytes32,
  },
  { noNullPrototype: true },
);

export const anyRoute: fc.Arbitrary<Route> = fc.record(
  {
    chainId: fc.bigInt({ min: 0n, max: (1n << 64n) - 1n }),
    token: anyAddress,
    adapter: anyAddress,
    minAmount: fc.bigInt({ min: 0n, max: (1n << 256n) - 1n }),
    config: anyBytes,
  },
  { noNullPrototype: true },
);
