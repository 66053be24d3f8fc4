import { recordSchema } from "../jsonSchema.ts";
import { caip19, idSchema, nullableTime, nullableUnits, time, txHash } from "../values.ts";

export const settlement = recordSchema("A transaction that pays an inbox's balance out to the payout wallet.", {
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
    description: "The amount that left the inbox: route cost, fee and net together.",
  },
  feeUnits: { ...nullableUnits, description: "The platform fee." },
  routeCostUnits: { ...nullableUnits, description: "The cost of a bridge or an exchange on the route." },
  netUnits: { ...nullableUnits, description: "The amount that the payout wallet received." },
  reason: {
    type: ["string", "null"],
    description:
      "The reason that it is held or failed; `rescued` when the intent's recovery key sent the inbox's balance elsewhere.",
  },
  txs: {
    type: "array",
    description:
      "The transaction in which it landed; empty until then. Where a bridge carries the money, the transaction that gave it to the bridge comes first.",
    items: recordSchema("A transaction on a chain.", {
      txHash,
      chain: { type: "string", description: "The CAIP-2 id.", examples: ["eip155:8453"] },
      blockNumber: { type: ["integer", "null"] },
    }),
  },
  createdAt: time,
  submittedAt: nullableTime,
  landedAt: nullableTime,
});
