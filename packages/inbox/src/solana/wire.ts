import { isBytes32 } from "../hex.ts";
import type { Hex } from "../hex.ts";
import { parseKey } from "./keys.ts";
import { hashSolanaTerms } from "./terms.ts";
import type { SolanaRoute, SolanaTerms } from "./terms.ts";

/** Number of the seeds and terms below; it changes with the program. */
export const solanaInboxVersion = 1;

type CommonWire = {
  readonly version: number;
  readonly program: string;
  readonly tokenProgram: string;
  readonly salt: string;
  readonly mint: string;
  readonly rentRecipient: string;
  readonly recovery: string;
  /** Unix time in seconds. */
  readonly recoverAfter: number;
};

/** The terms of a Solana inbox in JSON, with the programs that decide its address. */
export type SolanaInboxTerms =
  | (CommonWire & {
      readonly kind: "pay";
      readonly payout: string;
      readonly feeAccount: string;
      readonly feeBps: number;
    })
  | (CommonWire & {
      readonly kind: "hop";
      /** 32 bytes as 0x and 64 digits. */
      readonly mintRecipient: string;
      readonly messenger: string;
      /** Decimal digits of the mint's smallest units. */
      readonly minAmount: string;
      readonly domain: number;
      readonly routes: readonly SolanaRoute[];
    });

/** Converts terms to the JSON form. */
export function solanaTermsToWire(
  terms: SolanaTerms,
  programs: { readonly program: string; readonly tokenProgram: string },
): SolanaInboxTerms {
  const { program, tokenProgram } = programs;
  const wire = { version: solanaInboxVersion, program, tokenProgram };
  return terms.kind === "pay" ? { ...wire, ...terms } : { ...wire, ...terms, minAmount: terms.minAmount.toString() };
}

/** Parses terms from the JSON form. Throws a RangeError that names the first malformed field. */
export function solanaTermsFromWire(wire: SolanaInboxTerms): SolanaTerms {
  const terms = readTerms(wire);
  // Refuses what has the right type and no encoding, such as a fee above the cap.
  hashSolanaTerms(terms);
  return terms;
}

function readTerms(wire: SolanaInboxTerms): SolanaTerms {
  const common = {
    salt: requireBytes32("salt", wire.salt),
    mint: requireKey("mint", wire.mint),
    rentRecipient: requireKey("rentRecipient", wire.rentRecipient),
    recovery: requireKey("recovery", wire.recovery),
    recoverAfter: requireInteger("recoverAfter", wire.recoverAfter),
  };
  if (wire.kind === "pay")
    return {
      ...common,
      kind: wire.kind,
      payout: requireKey("payout", wire.payout),
      feeAccount: requireKey("feeAccount", wire.feeAccount),
      feeBps: requireInteger("feeBps", wire.feeBps),
    };
  if (wire.kind !== "hop") throw new RangeError('kind must be "pay" or "hop"');
  return {
    ...common,
    kind: wire.kind,
    mintRecipient: requireBytes32("mintRecipient", wire.mintRecipient),
    messenger: requireKey("messenger", wire.messenger),
    minAmount: requireAmount("minAmount", wire.minAmount),
    domain: requireInteger("domain", wire.domain),
    routes: requireRoutes(wire.routes),
  };
}

function requireRoutes(routes: unknown): readonly [SolanaRoute, SolanaRoute] {
  const list: unknown[] = Array.isArray(routes) ? routes : [];
  const [fast, standard] = list.map(requireRoute);
  if (fast === undefined || standard === undefined || list.length !== 2)
    throw new RangeError("routes must be the fast and the standard route");
  return [fast, standard];
}

function requireRoute(route: unknown): SolanaRoute {
  const fields: { feePpmMax?: unknown; finalityThreshold?: unknown } =
    typeof route === "object" && route !== null ? route : {};
  return {
    feePpmMax: requireInteger("routes.feePpmMax", fields.feePpmMax),
    finalityThreshold: requireInteger("routes.finalityThreshold", fields.finalityThreshold),
  };
}

function requireKey(name: string, value: unknown): string {
  if (typeof value !== "string" || parseKey(value) === undefined)
    throw new RangeError(`${name} must be the base58 of 32 bytes`);
  return value;
}

function requireBytes32(name: string, value: unknown): Hex {
  const lower = typeof value === "string" ? value.toLowerCase() : value;
  if (!isBytes32(lower)) throw new RangeError(`${name} must be 32 bytes as 0x and 64 digits`);
  return lower;
}

function requireInteger(name: string, value: unknown): number {
  if (typeof value !== "number" || !Number.isSafeInteger(value) || value < 0)
    throw new RangeError(`${name} must be a whole number`);
  return value;
}

function requireAmount(name: string, value: unknown): bigint {
  if (typeof value !== "string" || !/^(?:0|[1-9][0-9]{0,19})$/.test(value))
    throw new RangeError(`${name} must be decimal digits`);
  return BigInt(value);
}
