import { recordSchema } from "../jsonSchema.ts";
import { caip19, idSchema, nullableTime, nullableUnits, time, txHash } from "../values.ts";

export const settlement = recordSchema("What takes an inbox's balance to the payout wallet.", {
  object: { type: "string", const: "settlement" },
  settlementId: idSchema("set"),
  intentId: idSchema("pi"),
  status: {
    type: "string",
    enum: ["planned", "submitted", "bridging", "landed", "held", "failed"],
    description:
      "`landed` is on chain: the payout wallet has `netUnits` more, which is less than left the inbox where `reason` is `rescued`.",
  },
  caip19,
  grossUnits: {
    ...nullableUnits,
    description: "What left the inbox for the payout: route cost, fee and net together.",
  },
  feeUnits: { ...nullableUnits, description: "The platform's part." },
  routeCostUnits: { ...nullableUnits, description: "What a bridge or an exchange took, where the money took a route." },
  netUnits: { ...nullableUnits, description: "What the payout wallet received." },
  reason: {
    type: ["string", "null"],
    description:
      "Why it is held or failed; `rescued` when the recovery key of the intent sent what was in the inbox elsewhere.",
  },
  txs: {
    type: "array",
    description: "The transaction in which it landed; empty before.",
    items: recordSchema("A transaction on a chain.", {
      txHash,
      chain: { type: "string", description: "As CAIP-2 names it.", examples: ["eip155:8453"] },
      blockNumber: { type: ["integer", "null"] },
    }),
  },
  createdAt: time,
  submittedAt: nullableTime,
  landedAt: nullableTime,
});
