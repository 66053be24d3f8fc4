import { recordSchema } from "../jsonSchema.ts";
import { address, caip19, idSchema, nullableTime, time, txHash, units } from "../values.ts";
import { token } from "./origins.ts";

export const deposit = recordSchema("One transfer into an inbox of the intent, and its status.", {
  object: { type: "string", const: "deposit" },
  depositId: idSchema("dep"),
  intentId: idSchema("pi"),
  status: {
    type: "string",
    enum: ["seen", "confirmed", "counted", "held", "dropped"],
    description:
      "`seen` is on chain and not final. `confirmed` is final and waits because it is below the minimum. `counted` counts towards the price. `held` does not, for the `reason` given. `dropped` is no longer on chain.",
  },
  amountUnits: { ...units, description: "In the deposited token's smallest units." },
  countedUnits: { ...units, description: "In the payout token's smallest units; 0 until it is counted." },
  token,
  caip19,
  from: { ...address, description: "The sender, from the token's transfer event." },
  txHash,
  position: { type: "integer", minimum: 0, description: "Its position among the transfers of its transaction." },
  blockNumber: { type: "integer", minimum: 0 },
  blockHash: { type: "string" },
  confirmations: {
    type: "integer",
    minimum: 0,
    description: "The number of blocks from its own to the newest, both included.",
  },
  requiredConfirmations: {
    type: ["integer", "null"],
    description: "The confirmations that make it final; null when seconds or the chain's own finality decide.",
  },
  requiredSeconds: {
    type: ["integer", "null"],
    description:
      "The seconds after which it is final, from its block to the newest on the chain's own clock; null when confirmations or the chain's own finality decide.",
  },
  late: {
    type: "boolean",
    description: "True when the intent was no longer active at its arrival. It is still paid out.",
  },
  reason: { type: ["string", "null"], description: "The reason that it is held, waits or was dropped." },
  settlementId: { type: ["string", "null"], description: "The settlement that paid it out." },
  seenAt: time,
  countedAt: nullableTime,
});
