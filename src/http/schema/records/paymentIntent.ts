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

const payout = recordSchema("Where the money ends. Pinned when the intent was created.", {
  namespace,
  chainReference,
  wallet: address,
  tokenAddress: address,
  decimals: { type: "integer", minimum: 0, description: "Of the payout token." },
  railId: { type: "string", description: "`<chain slug>:<token slug>`.", examples: ["base:usdc"] },
  caip10,
  caip19,
});

const amounts = recordSchema("Sums in the payout token's smallest units.", {
  priceUnits: {
    ...nullableUnits,
    description: "The price in the token's own units; null when the intent is open-ended.",
  },
  receivedUnits: { ...units, description: "All that is on chain and on a route to the payout, final or not." },
  countedUnits: { ...units, description: "What is final and counts towards the price." },
  shortfallUnits: { ...units, description: "What is missing to the price." },
  excessUnits: { ...units, description: "What was counted beyond the price." },
  settledUnits: { ...units, description: "What has left the inbox for the payout." },
  feeUnits: { ...units, description: "The platform's part of what was settled." },
  netUnits: { ...units, description: "What the payout wallet has received." },
});

const inboxTerms = recordSchema("What the inbox's address commits to. Anybody can compute the address from them.", {
  version: { type: "integer" },
  hub: address,
  implementation: address,
  salt: { type: "string" },
  settleChainId: { type: "string", description: "In digits." },
  settleToken: address,
  payout: address,
  feeRecipient: address,
  feeBps,
  recovery: address,
  recoverAfter: { type: "integer", description: "Unix time in seconds." },
  routesRoot: { type: "string" },
});

export const paymentIntent = recordSchema(
  "A merchant's wish to be paid: where the money shall end and, if there is one, the price.",
  {
    object: { type: "string", const: "payment_intent" },
    intentId: idSchema("pi"),
    inboxAddress: { ...address, description: "The deposit inbox: an address that can only be emptied to the payout." },
    created: { type: "boolean", description: "True only in the answer of the call that minted the intent." },
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
      description: "Millionths of the payout currency, whatever decimals the token has; null when open-ended.",
    },
    oneTime: { type: "boolean" },
    merchantReference: { type: ["string", "null"] },
    metadata: { ...metadata, type: ["object", "null"], description: "As it was given, or null." },
    payout,
    feeBps,
    amounts,
    inboxTerms,
    checkoutUrl: {
      type: "string",
      format: "uri",
      description: "The page on which a payer pays. It opens with `#` and the widget token behind it.",
    },
    createdAt: time,
    updatedAt: time,
    settledAt: { ...nullableTime, description: "When the price was reached." },
    archivedAt: nullableTime,
  },
);

export const createdPaymentIntent = recordSchema("The intent, and the token that opens its checkout.", {
  ...paymentIntent.properties,
  widgetToken: {
    type: "string",
    pattern: "^wt_[-_0-9A-Za-z]{43}$",
    description: "Fresh each time. Every earlier one of this intent stops authenticating.",
    examples: ["wt_Jx2qVw8nTz5mRk1bYc7pLf4dHs9gEa3uNo6iXv0tQyA"],
  },
});
