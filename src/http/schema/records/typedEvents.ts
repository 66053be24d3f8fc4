import { eventTypesBelow } from "../../../event/event.ts";
import { recordSchema, type JsonSchema } from "../jsonSchema.ts";
import { idSchema } from "../values.ts";
import { deposit } from "./deposit.ts";
import { event, webhookEndpoint } from "./event.ts";
import { paymentIntent } from "./paymentIntent.ts";
import { settlement } from "./settlement.ts";

// The shapes of events by their kinds: what stands in `data.object` follows from the type.

const issuedInbox = {
  ...recordSchema("The address of an intent on one origin.", {
    object: { type: "string", const: "source_inbox" },
    intentId: idSchema("pi"),
    address: { type: "string" },
    caip10: { type: "string", description: "A CAIP-10 account id." },
    tokenAccount: { type: "string", description: "Solana alone: the token account of the address." },
    mint: { type: "string", description: "Solana alone: the token that the inbox takes." },
    program: { type: "string", description: "Solana alone: the inbox program." },
  }),
  required: ["object", "intentId", "address", "caip10"],
} as const;

/** Transfers below the minimum have one event, when they count together. */
const countedDeposit = {
  ...deposit,
  properties: {
    ...deposit.properties,
    depositCount: { type: "integer", description: "Of many small transfers that count together: their number." },
  },
} as const;

/** Posted to one endpoint on request, and in no feed. */
export const TEST_TYPE = "webhook_endpoint.test";

function typedEvent(description: string, types: readonly string[], object: JsonSchema) {
  return recordSchema(description, {
    ...event.properties,
    type: { type: "string", enum: [...types] },
    data: recordSchema("What changed.", {
      object,
      previous: event.properties.data.properties.previous,
    }),
  });
}

/** By the name in the document. */
export const TYPED_EVENTS = {
  PaymentIntentEvent: typedEvent("A change of an intent.", eventTypesBelow("payment_intent."), paymentIntent),
  SourceInboxEvent: typedEvent("An address was issued for an origin.", eventTypesBelow("source_inbox."), issuedInbox),
  DepositEvent: typedEvent("A change of a deposit.", eventTypesBelow("deposit."), countedDeposit),
  SettlementEvent: typedEvent("A change of a settlement.", eventTypesBelow("settlement."), settlement),
  WebhookEndpointEvent: typedEvent(
    "An endpoint fails or was disabled, or its merchant asked for a test.",
    [...eventTypesBelow("webhook_endpoint."), TEST_TYPE],
    webhookEndpoint,
  ),
  AccountEvent: typedEvent("A change of the account itself, or of its feed.", eventTypesBelow("account."), {
    type: "object",
    description:
      "The account after the change; of `account.feed_restored`, `lastSequence` and `nextSequence`; of `account.payout_change_*`, the proposed change with its `status` and the time at which it takes effect.",
  }),
} as const satisfies Record<string, JsonSchema>;
