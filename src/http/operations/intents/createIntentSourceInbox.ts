import { issueSourceInbox, type OriginSelector } from "../../../inbox/issueSourceInbox.ts";
import { getUnarchivedIntent } from "../../../intent/readIntents.ts";
import { defineOperation } from "../../operation.ts";
import { sourceInboxExample } from "../../schema/examples.ts";
import type { JsonSchema, FromSchema } from "../../schema/jsonSchema.ts";
import { sourceInbox } from "../../schema/records/origins.ts";

const originText = { type: "string", minLength: 1, maxLength: 100 } as const;
const absent = { type: "null" } as const;

const body = {
  oneOf: [
    {
      title: "An EVM origin",
      type: "object",
      properties: {
        chainId: {
          type: "integer",
          minimum: 1,
          maximum: Number.MAX_SAFE_INTEGER,
          description: "The EVM chain id.",
          examples: [8453],
        },
        namespace: absent,
        reference: absent,
        mint: absent,
      },
      required: ["chainId"],
      additionalProperties: false,
    },
    {
      title: "A Solana origin",
      type: "object",
      properties: {
        chainId: absent,
        namespace: { ...originText, description: "The CAIP-2 namespace.", examples: ["solana"] },
        reference: {
          ...originText,
          description: "The CAIP-2 reference.",
          examples: ["5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp"],
        },
        mint: {
          ...originText,
          description: "The token's mint.",
          examples: ["EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v"],
        },
      },
      required: ["namespace", "reference", "mint"],
      additionalProperties: false,
    },
  ],
} as const satisfies JsonSchema;

export const createIntentSourceInbox = defineOperation({
  operationId: "createIntentSourceInbox",
  method: "POST",
  path: "/api/v1/intents/{id}/source-inbox",
  group: "Deposit addresses",
  summary: "Issue a source inbox",
  description: `Issues the deposit address for one origin, for the intent's own customer. A repeat returns the same address, even after the intent
is settled or the origin is switched off.

Select an EVM origin by \`chainId\`, a Solana one by \`namespace\`, \`reference\` and \`mint\`.`,
  isRetrySafe: true,
  perMinute: 30,
  unavailableFault: "source_inbox_unavailable",
  body,
  bodyExamples: {
    "On an EVM chain": { chainId: 8453 },
    "On Solana": {
      namespace: "solana",
      reference: "5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp",
      mint: "EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v",
    },
  },
  success: { status: 201, description: "The source inbox.", schema: sourceInbox, example: sourceInboxExample },
  faults: [
    "unsupported_origin",
    "source_inbox_refused",
    "source_inbox_unavailable",
    "source_inbox_not_active",
    "customer_not_bound",
  ],
  async handle(world, { account, id, body: requestBody }) {
    const intent = await getUnarchivedIntent(world, { accountId: account.id, intentId: id });
    return { status: 201, body: await issueSourceInbox(world, intent, toOriginName(requestBody)) };
  },
});

function toOriginName(requestBody: FromSchema<typeof body>): OriginSelector {
  if (typeof requestBody.chainId === "number") return { chainId: requestBody.chainId };
  return requestBody;
}
