import { recordSchema } from "../jsonSchema.ts";
import { metadata } from "./metadata.ts";
import {
  address,
  caip10,
  caip19,
  chainReference,
  feeBps,
  idSchema,
  namespace,
  nullableTime,
  nullableUnits,
  time,
  units,
} from "../values.ts";

const payout = recordSchema("The payout destination, fixed when the intent is created.", {
  namespace,
  chainReference,
  wallet: address,
  tokenAddress: address,
  decimals: { type: "integer", minimum: 0, description: "The decimals of the payout token." },
  railId: { type: "string", description: "`<chain slug>:<token slug>`.", examples: ["base:usdc"] },
  caip10,
  caip19,
});

const amounts = recordSchema("Amounts in the payout token's smallest units.", {
  priceUnits: {
    ...nullableUnits,
    description: "The price in the token's own units; null when the intent is open-ended.",
  },
  receivedUnits: { ...units, description: "All deposits on chain that have a route to the payout, final or not." },
  countedUnits: { ...units, description: "The final deposits that count towards the price." },
  shortfallUnits: { ...units, description: "The amount missing from the price." },
  excessUnits: { ...units, description: "The counted amount above the price." },
  settledUnits: { ...units, description: "The amount that left the inbox for the payout." },
  feeUnits: { ...units, description: "The platform fee on the settled amount." },
  netUnits: { ...units, description: "The amount that the payout wallet received." },
});

const inboxTerms = recordSchema("The terms that determine the inbox address, so that anyone can compute it.", {
  version: { type: "integer" },
  hub: address,
  implementation: address,
  salt: { type: "string" },
  settleChainId: { type: "string", description: "The EVM chain id as a string of digits." },
  settleToken: address,
  payout: address,
  feeRecipient: address,
  feeBps,
  recovery: address,
  recoverAfter: { type: "integer", description: "Unix time in seconds." },
  routesRoot: { type: "string" },
});

export const paymentIntent = recordSchema(
  "A request for a payment: its payout destination and, if it has one, its price.",
  {
    object: { type: "string", const: "payment_intent" },
    intentId: idSchema("pi"),
    inboxAddress: { ...address, description: "The deposit inbox: an address that pays out only to the payout wallet." },
    created: { type: "boolean", description: "True only in the response that created the intent." },
    livemode: { type: "boolean", description: "False on test networks." },
    status: {
      type: "string",
      enum: ["active", "settled", "archived"],
      description:
        "A one-time intent is `settled` when its price is reached. All others stay `active` until they are archived.",
    },
    paymentStatus: {
      type: "string",
      enum: ["unpaid", "partial", "paid", "overpaid"],
      description: "Fulfil at `paid` or `overpaid`. Only one-time intents are ever `overpaid`.",
    },
    priceUnits: {
      type: ["integer", "null"],
      description: "Millionths of the payout currency, independent of the token's decimals; null when open-ended.",
    },
    oneTime: { type: "boolean" },
    merchantReference: { type: ["string", "null"] },
    metadata: { ...metadata, type: ["object", "null"], description: "The metadata as sent, or null." },
    returnUrl: { type: ["string", "null"], description: "Where the checkout page links back to." },
    description: { type: ["string", "null"], description: "What the checkout page shows the payer." },
    payout,
    feeBps,
    amounts,
    inboxTerms,
    checkoutUrl: {
      type: "string",
      format: "uri",
      description: "The checkout page. Append `#` and the widget token to open it.",
    },
    createdAt: time,
    updatedAt: time,
    settledAt: { ...nullableTime, description: "The time at which the price was reached." },
    archivedAt: nullableTime,
  },
);

export const createdPaymentIntent = recordSchema("The intent, and the token that opens its checkout.", {
  ...paymentIntent.properties,
  widgetToken: {
    type: "string",
    pattern: "^wt_[-_0-9A-Za-z]{43}$",
    description: "New in every response. All earlier tokens of this intent stop working.",
    examples: ["wt_Jx2qVw8nTz5mRk1bYc7pLf4dHs9gEa3uNo6iXv0tQyA"],
  },
});
