import { fc } from "../../../../test/support/properties.ts";
import { cctpMessenger } from "@tributary/inbox/solana/cctp";
import { encodeKey } from "@tributary/inbox/solana/keys";
import type { SolanaHopTerms, SolanaPayTerms, SolanaRoute } from "@tributary/inbox/solana/terms";
import { anyAddress, anyBytes32 } from "../arbitraries.ts";

export const anyKey = fc.uint8Array({ minLength: 32, maxLength: 32 }).map(encodeKey);

const common = {
  salt: anyBytes32,
  mint: anyKey,
  rentRecipient: anyKey,
  recovery: anyKey,
  recoverAfter: fc.integer({ min: 0, max: 2 ** 48 - 1 }),
};
const anyRoute: fc.Arbitrary<SolanaRoute> = fc.record({
  feePpmMax: fc.integer({ min: 0, max: 100_000 }),
  finalityThreshold: fc.integer({ min: 0, max: 2 ** 32 - 1 }),
});

export const anyPayTerms: fc.Arbitrary<SolanaPayTerms> = fc.record(
  {
    ...common,
    kind: fc.constant("pay" as const),
    payout: anyKey,
    feeAccount: anyKey,
    feeBps: fc.integer({ min: 0, max: 1_000 }),
  },
  { noNullPrototype: true },
);

export const anyHopTerms: fc.Arbitrary<SolanaHopTerms> = fc.record(
  {
    ...common,
    kind: fc.constant("hop" as const),
    mintRecipient: anyAddress.map((address) => `0x${"00".repeat(12)}${address.slice(2)}` as const),
    messenger: fc.constant(cctpMessenger),
    minAmount: fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }),
    domain: fc.integer({ min: 0, max: 2 ** 32 - 1 }),
    routes: fc.tuple(anyRoute, anyRoute),
  },
  { noNullPrototype: true },
);
