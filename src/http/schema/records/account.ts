import { recordSchema } from "../jsonSchema.ts";
import { address, caip19, feeBps } from "../values.ts";

const nullableText = { type: ["string", "null"] } as const;

const brand = recordSchema("How the account's checkout looks. Null: the default.", {
  accent: { ...nullableText, description: "The fill of the main button.", examples: ["#7a1f3d"] },
  accentDark: { ...nullableText, description: "The same in the dark theme; without it the accent." },
  radius: { type: ["integer", "null"], description: "The radius of corners in CSS pixels." },
  font: { ...nullableText, description: "Fonts of the payer's device.", examples: ['"Inter", sans-serif'] },
  logo: { ...nullableText, description: "The stored image as a `data:` URL." },
});

const payout = {
  ...recordSchema("The default destination of the account's intents; null without one.", {
    chain: { type: "string", description: "A CAIP-2 id.", examples: ["eip155:8453"] },
    wallet: { ...address, type: ["string", "null"] },
    currency: { ...nullableText, description: "The symbol of a token.", examples: ["USDC"] },
  }),
  type: ["object", "null"],
} as const;

const evmPayout = otherPayout("an EVM chain");
const solanaPayout = otherPayout("Solana");

function otherPayout(place: string) {
  return {
    ...recordSchema(`The default destination of keys that are bound to ${place}, where \`payout\` is elsewhere.`, {
      chain: { type: "string", description: "A CAIP-2 id." },
      wallet: address,
    }),
    type: ["object", "null"],
  } as const;
}

const limit = recordSchema("A limit of requests in any 60 seconds, shared by all keys of the account.", {
  operationId: { type: "string" },
  perMinute: { type: "integer" },
  perMinuteAndIntent: { type: ["integer", "null"], description: "A second limit, for one intent." },
});

export const account = recordSchema("The account of the API key.", {
  object: { type: "string", const: "account" },
  accountId: { type: "string", description: "Opaque." },
  name: { type: "string", description: "The name that payers see." },
  environment: { type: "string", enum: ["test", "live"] },
  payout,
  feeBps: { ...feeBps, description: "The platform fee of new intents in basis points." },
  underpayToleranceBps: {
    type: "integer",
    description: "How far below the price counts as paid in new intents, in basis points.",
  },
  recovery: {
    ...address,
    type: ["string", "null"],
    description: "The EVM address that can recover misdirected tokens; null for the payout wallet.",
  },
  solanaRecovery: {
    ...address,
    type: ["string", "null"],
    description: "The same for payouts on Solana; null for the payout wallet.",
  },
  evmPayout,
  solanaPayout,
  origins: {
    type: ["array", "null"],
    items: caip19,
    description: "The origins that its intents may use; null for all.",
  },
  limitMultiple: {
    type: "integer",
    description: "The operator has raised the account's rate limits to so many times the usual ones; else 1.",
  },
  brand,
  support: {
    ...nullableText,
    description: "The link that payers see for questions; null for the service's own.",
    examples: ["mailto:help@shop.example"],
  },
  scopes: { type: "array", items: { type: "string" }, description: "The scopes of the key." },
  limits: { type: "array", items: limit, description: "The rate limits of every operation." },
});

export const pageOriginList = recordSchema("The web pages that may embed the account's checkout.", {
  origins: {
    type: "array",
    items: { type: "string", examples: ["https://shop.example"] },
    description: "Scheme, host and port, as browsers send them, in alphabetical order.",
  },
});
