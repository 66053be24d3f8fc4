import { nullable } from "./jsonSchema.ts";

// Schemas shared by several others.

export const units = {
  type: "string",
  pattern: "^(0|[1-9][0-9]*)$",
  description:
    "A whole number of the token's smallest units, as a string, because it may exceed the range of a JSON number.",
  examples: ["25000000"],
} as const;

export const time = {
  type: "string",
  format: "date-time",
  description: "ISO 8601 in UTC.",
  examples: ["2026-11-21T09:30:00.000Z"],
} as const;

export const nullableUnits = nullable(units);
export const nullableTime = nullable(time);

export const address = {
  type: "string",
  description:
    "On EVM chains with EIP-55 checksum, to be compared without case; on Solana base58, to be compared exactly.",
  examples: ["0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed"],
} as const;

export const namespace = {
  type: "string",
  enum: ["eip155", "solana"],
  description: "The CAIP-2 namespace: the family of chains.",
} as const;

export const chainReference = {
  type: "string",
  description: "The CAIP-2 reference: the chain within its namespace. For EVM chains the chain id in digits.",
  examples: ["8453"],
} as const;

export const caip10 = {
  type: "string",
  pattern: "^[-a-z0-9]{3,8}:[-_a-zA-Z0-9]{1,32}:[-.%a-zA-Z0-9]{1,128}$",
  description: "A CAIP-10 account id.",
  examples: ["eip155:8453:0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed"],
} as const;

export const caip19 = {
  type: "string",
  pattern: "^[-a-z0-9]{3,8}:[-_a-zA-Z0-9]{1,32}/[-a-z0-9]{3,8}:[-.%a-zA-Z0-9]{1,128}$",
  description: "A CAIP-19 asset id.",
  examples: ["eip155:8453/erc20:0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913"],
} as const;

export const txHash = {
  type: "string",
  description: "The transaction hash or signature.",
  examples: ["0x6f0d7a1c6b2e4c8a9d53f1e0b7c4a2d8e9f60a1b2c3d4e5f60718293a4b5c6d7"],
} as const;

export const feeBps = {
  type: "integer",
  minimum: 0,
  maximum: 10_000,
  description: "The platform fee in basis points, fixed when the intent is created.",
} as const;

/** An id of this service: its prefix and 26 characters of Crockford's base32. */
export function idSchema<const Prefix extends string>(prefix: Prefix) {
  return {
    type: "string",
    pattern: `^${prefix}_[0-9a-hjkmnp-tv-z]{26}$`,
    description: "Opaque.",
    examples: [`${prefix}_3x7m9q2k5v8w1y4z6b0c3d5f7g`],
  } as const;
}
