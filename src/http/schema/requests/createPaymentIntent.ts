import type { JsonSchema } from "../jsonSchema.ts";
import { metadata } from "../records/metadata.ts";
import { merchantReference } from "./merchantReference.ts";

/** Longer than any address. */
const ADDRESS_CHARACTERS_MAX = 100;

const addressText = { type: ["string", "null"], minLength: 1, maxLength: ADDRESS_CHARACTERS_MAX } as const;

/** Each field may be left out or null, which is the same. */
export const createPaymentIntentBody = {
  type: "object",
  properties: {
    merchantReference: {
      ...merchantReference,
      type: ["string", "null"],
      description: "Your own name for what is paid, such as an order's number. It need not be unique and is no key.",
    },
    metadata: { ...metadata, type: ["object", "null"] },
    priceUnits: {
      type: ["integer", "null"],
      minimum: 1,
      maximum: Number.MAX_SAFE_INTEGER,
      description:
        "The price in millionths of the payout currency, whatever decimals the token has. Left out, the intent is open-ended: any counted deposit makes it paid.",
      examples: [25_000_000],
    },
    oneTime: {
      type: ["boolean", "null"],
      description:
        "The intent is settled when its price is reached, and its destination is free again. It needs `priceUnits`.",
    },
    payoutWallet: {
      ...addressText,
      description:
        "Your wallet that receives the money. Of an EVM address the case is checked (EIP-55) where it is mixed; a Solana one is base58 of 32 bytes.",
      examples: ["0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed"],
    },
    payoutNamespace: {
      type: ["string", "null"],
      enum: ["eip155", "solana", null],
      description: "The family of chains, as CAIP-2 names it.",
    },
    payoutChainReference: {
      type: ["string", "integer", "null"],
      pattern: "^[-_a-zA-Z0-9]{1,32}$",
      minimum: 1,
      maximum: Number.MAX_SAFE_INTEGER,
      "x-must": "be a chain id, or 1 to 32 letters, digits, hyphens or underscores",
      description: "The chain within its namespace. An EVM chain id may also be a number.",
      examples: ["8453"],
    },
    payoutTokenAddress: {
      ...addressText,
      description:
        "A token that is a live settle rail of the chain. Left out, it is the account's currency there, or the chain's default.",
      examples: ["0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913"],
    },
  },
  additionalProperties: false,
  // One-time without a price. A price of a wrong type is left to the field's own schema: it is wrong, and not missing.
  allOf: [
    {
      not: {
        type: "object",
        properties: { oneTime: { const: true }, priceUnits: { type: "null" } },
        required: ["oneTime"],
      },
      "x-error-code": "price_required",
      "x-param": "priceUnits",
    },
  ],
} as const satisfies JsonSchema;
