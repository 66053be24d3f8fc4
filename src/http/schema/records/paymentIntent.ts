import { recordSchema, type Properties } from "../jsonSchema.ts";
import { solanaKey, tokenAccountProperties } from "./tokenAccount.ts";
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
  remainingUnits: {
    ...nullableUnits,
    description:
      "What the payer is still asked for: the price minus everything that arrived, or 0 once the price is reached within the tolerance; null when the intent is open-ended.",
  },
  shortfallUnits: { ...units, description: "The price minus the counted amount, however much is on its way." },
  excessUnits: { ...units, description: "The counted amount above the price." },
  settledUnits: { ...units, description: "The amount that left the inbox for the payout." },
  feeUnits: { ...units, description: "The platform fee on the settled amount." },
  netUnits: { ...units, description: "The amount that the payout wallet received." },
});

const route = recordSchema("A permitted way of a deposit on another chain to the payout's chain.", {
  chainId: { type: "string", description: "The EVM chain id of the deposit as a string of digits." },
  token: { ...address, description: "The deposited token." },
  adapter: { ...address, description: "The contract that calls the bridge." },
  minAmount: { ...units, description: "The least amount that the bridge takes, in the token's smallest units." },
  config: { type: "string", description: "The adapter's settings, ABI-encoded.", pattern: "^0x(?:[0-9a-f]{2})*$" },
});

const committedTerms = {
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
  routesRoot: { type: "string", description: "The Merkle root of the routes; 32 zero bytes without routes." },
} as const satisfies Properties;

const payTerms = recordSchema("The terms of the inbox on Solana.", {
  version: { type: "integer" },
  program: { ...solanaKey, description: "The inbox program." },
  tokenProgram: { ...solanaKey, description: "The token program that owns the mint." },
  kind: { type: "string", const: "pay" },
  salt: { type: "string" },
  mint: { ...solanaKey, description: "The token of the deposits and of the payout." },
  payout: { ...solanaKey, description: "The payout wallet." },
  feeAccount: { ...solanaKey, description: "The token account that receives the fee." },
  feeBps,
  rentRecipient: { ...solanaKey, description: "Receives the rent of closed accounts, and never a token." },
  recovery: { ...solanaKey, description: "The key that may rescue." },
  recoverAfter: { type: "integer", description: "Unix time in seconds." },
});

const hopTerms = recordSchema("The terms of an inbox on Solana that can only cross to the payout's chain.", {
  version: { type: "integer" },
  program: { ...solanaKey, description: "The inbox program." },
  tokenProgram: { ...solanaKey, description: "The token program that owns the mint." },
  kind: { type: "string", const: "hop" },
  salt: { type: "string" },
  mint: { ...solanaKey, description: "The token of the deposits." },
  mintRecipient: { type: "string", description: "`inboxAddress` as 32 bytes.", pattern: "^0x0{24}[0-9a-f]{40}$" },
  messenger: { ...solanaKey, description: "Circle's program that burns." },
  minAmount: { ...units, description: "The least amount that is burned, in the mint's smallest units." },
  domain: { type: "integer", description: "Circle's number of the payout's chain." },
  routes: {
    type: "array",
    description: "The fast way, then the standard one.",
    items: recordSchema("A way over the bridge.", {
      feePpmMax: { type: "integer", description: "The highest fee, in millionths of the amount." },
      finalityThreshold: { type: "integer", description: "2000 waits for finality, 1000 does not." },
    }),
  },
  rentRecipient: { ...solanaKey, description: "Receives the rent of closed accounts, and never a token." },
  recovery: { ...solanaKey, description: "The key that may rescue." },
  recoverAfter: { type: "integer", description: "Unix time in seconds." },
});

const inboxTerms = {
  ...recordSchema(
    "The terms that determine the inbox address, so that anyone can compute it. Keep the response of each create, outside this service: with these terms and the keys of your wallets every deposit can be recovered without it, and without them none can.",
    {
      ...committedTerms,
      routes: {
        type: "array",
        items: route,
        description:
          "The routes of `routesRoot`, in its order; absent without routes. Shown where one intent is created, read or archived; lists and events have only the root.",
      },
      solana: {
        ...payTerms,
        description:
          "For a payout on Solana: the terms of `inboxAddress`. The fields beside it are those of an EVM inbox that takes no deposit.",
      },
      solanaRoutes: {
        type: "array",
        items: hopTerms,
        description:
          "For a payout on an EVM chain: the terms of its inboxes on Solana, one for each mint that crosses; absent where the account has no recovery key there. Shown where `routes` are.",
      },
    },
  ),
  required: Object.keys(committedTerms) as (keyof typeof committedTerms)[],
};

const paymentIntentFields = recordSchema(
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
        "A one-time intent is `settled` when its price is reached: ship then. All others stay `active` until they are archived. Never ship for an `archived` one.",
    },
    paymentStatus: {
      type: "string",
      enum: ["unpaid", "partial", "paid", "overpaid"],
      description:
        "Compares `amounts.countedUnits` with the price, late deposits included. Only one-time intents are ever `overpaid`.",
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

export const paymentIntent = {
  ...paymentIntentFields,
  properties: { ...paymentIntentFields.properties, ...tokenAccountProperties },
};

const createdFields = recordSchema("The intent, and the token that opens its checkout.", {
  ...paymentIntentFields.properties,
  widgetToken: {
    type: "string",
    pattern: "^wt_[-_0-9A-Za-z]{43}$",
    description: "New in every response. All earlier tokens of this intent stop working.",
    examples: ["wt_Jx2qVw8nTz5mRk1bYc7pLf4dHs9gEa3uNo6iXv0tQyA"],
  },
});

export const createdPaymentIntent = {
  ...createdFields,
  properties: { ...createdFields.properties, ...tokenAccountProperties },
};
