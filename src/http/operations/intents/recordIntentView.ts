import { getUnarchivedIntent } from "../../../intent/readIntents.ts";
import { registerView } from "../../../view/registerView.ts";
import { defineOperation } from "../../operation.ts";
import { selectionExample } from "../../schema/examples.ts";
import type { JsonSchema } from "../../schema/jsonSchema.ts";
import { recordedView } from "../../schema/records/origins.ts";

const selectionText = { type: "string", minLength: 1, maxLength: 100 } as const;

const body = {
  type: "object",
  properties: {
    selection: {
      type: ["object", "null"],
      description: "The payer's choice. Without it, all inboxes of the intent are scanned, which takes longer.",
      properties: {
        namespace: { ...selectionText, description: "The CAIP-2 namespace.", examples: ["eip155"] },
        reference: { ...selectionText, description: "The CAIP-2 reference.", examples: ["8453"] },
        tokenAddress: {
          ...selectionText,
          description: "On EVM chains in any letter case.",
          examples: ["0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913"],
        },
      },
      required: ["namespace", "reference", "tokenAddress"],
      additionalProperties: false,
    },
  },
  additionalProperties: false,
} as const satisfies JsonSchema;

export const recordIntentView = defineOperation({
  operationId: "recordIntentView",
  method: "POST",
  path: "/api/v1/intents/{id}/view",
  group: "Deposit addresses",
  summary: "Report a payer's view",
  description: `Send this when a page shows a deposit address, and again at each choice of a chain or token: the service then finds deposits there
sooner. It is only a hint: it settles and moves nothing, and deposits are also found without it.`,
  isRetrySafe: true,
  perMinute: 60,
  perMinuteAndIntent: 30,
  body,
  bodyExamples: { "One token": { selection: selectionExample }, "All inboxes of the intent": {} },
  success: { status: 202, description: "The hint was accepted.", schema: recordedView, example: { recorded: true } },
  faults: [],
  async handle(world, { account, id, body: { selection } }) {
    const intent = await getUnarchivedIntent(world, { accountId: account.id, intentId: id });
    return { status: 202, body: { recorded: await registerView(world, intent, selection ?? undefined) } };
  },
});
