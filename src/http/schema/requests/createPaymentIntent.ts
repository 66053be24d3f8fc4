import type { JsonSchema } from "../jsonSchema.ts";
import { metadata } from "../records/metadata.ts";
import { merchantReference } from "./merchantReference.ts";

/** More than the length of any address. */
const ADDRESS_CHARACTERS_MAX = 100;

const RETURN_URL_CHARACTERS_MAX = 2_000;

const addressText = { type: ["string", "null"], minLength: 1, maxLength: ADDRESS_CHARACTERS_MAX } as const;

/** Each field may be missing or null, with the same meaning. */
export const createPaymentIntentBody = {
  type: "object",
  properties: {
    merchantReference: {
      ...merchantReference,
      type: ["string", "null"],
      description: "Your own label, such as an order number. It need not be unique and does not identify the intent.",
    },
    metadata: { ...metadata, type: ["object", "null"] },
    priceUnits: {
      type: ["integer", "null"],
      minimum: 1,
      maximum: Number.MAX_SAFE_INTEGER,
      "x-default": "none",
      description:
        "The price in millionths of the payout currency, independent of the token's decimals. Without it the intent is open-ended: any counted deposit makes it paid.",
      examples: [25_000_000],
    },
    oneTime: {
      type: ["boolean", "null"],
      default: false,
      description:
        "If true, the intent is settled when its price is reached, and its destination is free again. Requires `priceUnits`.",
    },
    returnUrl: {
      type: ["string", "null"],
      minLength: 1,
      maxLength: RETURN_URL_CHARACTERS_MAX,
      description:
        "Where the checkout page links back to: an https URL without user and password. The page never follows the link by itself.",
      examples: ["https://shop.example/orders/4711"],
    },
    description: {
      ...merchantReference,
      type: ["string", "null"],
      description: "What the payer pays for, in a few words. The checkout page shows it.",
      examples: ["Two seats, row 7"],
    },
    payoutWallet: {
      ...addressText,
      "x-default": "the account's wallet of the namespace",
      description:
        "Your wallet for the payout. A mixed-case EVM address must have a correct EIP-55 checksum; a Solana address is base58 of 32 bytes.",
      examples: ["0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed"],
    },
    payoutNamespace: {
      type: ["string", "null"],
      enum: ["eip155", "solana", null],
      "x-default": "the account's namespace",
      description: "The CAIP-2 namespace: the family of chains.",
    },
    payoutChainReference: {
      type: ["string", "integer", "null"],
      pattern: "^[-_a-zA-Z0-9]{1,32}$",
      minimum: 1,
      maximum: Number.MAX_SAFE_INTEGER,
      "x-default": "the account's chain",
      "x-must": "be a chain id, or 1 to 32 letters, digits, hyphens or underscores",
      description: "The CAIP-2 reference: the chain within its namespace. An EVM chain id may also be a number.",
      examples: ["8453"],
    },
    payoutTokenAddress: {
      ...addressText,
      description:
        "A token that is a live settle rail of the chain. The default is the account's currency there, or the chain's default.",
      examples: ["0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913"],
    },
  },
  additionalProperties: false,
  // One-time without a price. A price of the wrong type is left to the field's own schema, which names the type.
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
