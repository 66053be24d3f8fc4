import { recordSchema } from "../jsonSchema.ts";
import { address, caip19, idSchema, nullableTime, time, txHash, units } from "../values.ts";
import { token } from "./origins.ts";

export const deposit = recordSchema("What became of one transfer into an inbox of the intent.", {
  object: { type: "string", const: "deposit" },
  depositId: idSchema("dep"),
  intentId: idSchema("pi"),
  status: {
    type: "string",
    enum: ["seen", "confirmed", "counted", "held", "dropped"],
    description:
      "`seen` is on chain and not final. `confirmed` is final and waits, because it is below the minimum. `counted` counts towards the price. `held` does not, for the `reason` given. `dropped` is no longer on chain.",
  },
  amountUnits: { ...units, description: "In the deposited token's smallest units." },
  countedUnits: { ...units, description: "In the payout token's smallest units; 0 until it is counted." },
  token,
  caip19,
  from: { ...address, description: "Who sent it, as the token tells." },
  txHash,
  position: { type: "integer", minimum: 0, description: "Its place among the transfers of its transaction." },
  blockNumber: { type: "integer", minimum: 0 },
  blockHash: { type: "string" },
  confirmations: { type: "integer", minimum: 0, description: "The blocks from its own to the newest, both included." },
  requiredConfirmations: {
    type: ["integer", "null"],
    description: "How many make it final; null where the chain's own finality decides.",
  },
  late: { type: "boolean", description: "It came when the intent was no longer active. It is paid out all the same." },
  reason: { type: ["string", "null"], description: "Why it is held, waits or was dropped." },
  settlementId: { type: ["string", "null"], description: "The settlement that took it out of the inbox." },
  seenAt: time,
  countedAt: nullableTime,
});
