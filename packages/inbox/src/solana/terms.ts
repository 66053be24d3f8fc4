import { sha256 } from "@noble/hashes/sha2";
import { bytesToHex, concatBytes } from "@noble/hashes/utils";
import type { Hex } from "../hex.ts";
import { bytes32, encodeInteger } from "./bytes.ts";
import { decodeKey } from "./keys.ts";

type CommonTerms = {
  /** Keccak-256 over the deployment and the intent, as on EVM chains; see `computeInboxSalt`. */
  readonly salt: Hex;
  /** The mint of the deposits. */
  readonly mint: string;
  /** Receives the rent of closed accounts, and never a token. */
  readonly rentRecipient: string;
  /** The key that may rescue; `noKey` means none. */
  readonly recovery: string;
  /** Unix time in seconds from which `recovery` may rescue the pinned mint too. */
  readonly recoverAfter: number;
};

/** The terms of an inbox whose deposits are paid out on Solana. */
export type SolanaPayTerms = CommonTerms & {
  readonly kind: "pay";
  /** The payout wallet: the owner of the token account that is paid, not the token account. */
  readonly payout: string;
  /** The token account that receives the fee. */
  readonly feeAccount: string;
  /** Basis points of the received amount, 0 … 1000. */
  readonly feeBps: number;
};

/** A way over Circle's bridge. */
export type SolanaRoute = {
  /** The maximum fee in millionths of the amount, 0 … 100000; the fee is rounded up. */
  readonly feePpmMax: number;
  /** 2000 waits for finality, 1000 or less is the fast transfer; 0 means that there is no such route. */
  readonly finalityThreshold: number;
};

/** The terms of an inbox whose deposits are burned here and minted on another chain. */
export type SolanaHopTerms = CommonTerms & {
  readonly kind: "hop";
  /** Receives the tokens on the other chain: the intent's inbox there, as 32 bytes. */
  readonly mintRecipient: Hex;
  /** Circle's TokenMessengerMinterV2. */
  readonly messenger: string;
  /** The smallest amount that is bridged, in the mint's smallest units. */
  readonly minAmount: bigint;
  /** Circle's domain number of the other chain. */
  readonly domain: number;
  /** The fast route, then the standard one. */
  readonly routes: readonly [SolanaRoute, SolanaRoute];
};

export type SolanaTerms = SolanaPayTerms | SolanaHopTerms;

export const feeBpsMax = 1_000;
export const feePpmCap = 100_000;

/** First seed of an inbox, and part of its meaning: 16 characters. */
export const kindSeeds = { pay: "tributary.pay.v1", hop: "tributary.hop.v1" } as const;

/**
 * The hashed bytes: 170 of kind `pay`, 196 of kind `hop`. The salt is not part of them. Throws a RangeError that names
 * the first invalid field.
 */
export function encodeSolanaTerms(terms: SolanaTerms): Uint8Array {
  const [payee, agent] =
    terms.kind === "pay"
      ? [decodeKey("payout", terms.payout), decodeKey("feeAccount", terms.feeAccount)]
      : [bytes32("mintRecipient", terms.mintRecipient), decodeKey("messenger", terms.messenger)];
  return concatBytes(
    decodeKey("mint", terms.mint),
    payee,
    agent,
    decodeKey("rentRecipient", terms.rentRecipient),
    decodeKey("recovery", terms.recovery),
    encodeSettings(terms),
  );
}

/** The part of the terms that an instruction carries as data; the rest are keys of accounts. */
export function encodeSettings(terms: SolanaTerms): Uint8Array {
  const recoverAfter = encodeInteger("recoverAfter", terms.recoverAfter, 8);
  if (terms.kind === "pay") return concatBytes(recoverAfter, encodeFeeBps(terms.feeBps));
  return concatBytes(
    recoverAfter,
    encodeInteger("minAmount", terms.minAmount, 8),
    encodeInteger("domain", terms.domain, 4),
    ...terms.routes.map(encodeRoute),
  );
}

/** SHA-256 of the terms: the second seed. All inboxes with equal terms but for the salt share it. */
export function hashSolanaTerms(terms: SolanaTerms): Hex {
  return `0x${bytesToHex(sha256(encodeSolanaTerms(terms)))}`;
}

/** The program settles no inbox with a higher fee, so none is issued. */
function encodeFeeBps(feeBps: number): Uint8Array {
  if (feeBps > feeBpsMax) throw new RangeError(`feeBps must be at most ${feeBpsMax}`);
  return encodeInteger("feeBps", feeBps, 2);
}

function encodeRoute({ feePpmMax, finalityThreshold }: SolanaRoute): Uint8Array {
  if (feePpmMax > feePpmCap) throw new RangeError(`feePpmMax must be at most ${feePpmCap}`);
  return concatBytes(
    encodeInteger("feePpmMax", feePpmMax, 4),
    encodeInteger("finalityThreshold", finalityThreshold, 4),
  );
}
