import { MANAGE_CHECKOUT } from "../../../merchant/keys/scopes.ts";
import { ORIGINS_MAX, replacePageOrigins as replaceMerchantOrigins } from "../../../merchant/pageOrigins.ts";
import { defineOperation } from "../../operation.ts";
import { pageOriginsExample } from "../../schema/accountExample.ts";
import type { JsonSchema } from "../../schema/jsonSchema.ts";
import { pageOriginList } from "../../schema/records/account.ts";

const body = {
  type: "object",
  properties: {
    origins: {
      type: "array",
      items: { type: "string" },
      maxItems: ORIGINS_MAX,
      "x-must": `be a list of at most ${ORIGINS_MAX} page origins, such as ["https://shop.example"]`,
      description:
        "The whole list: scheme, host and port, without a path and without wildcards. An empty list allows no page.",
    },
  },
  required: ["origins"],
  additionalProperties: false,
} as const satisfies JsonSchema;

export const replacePageOrigins = defineOperation({
  operationId: "replacePageOrigins",
  method: "PUT",
  path: "/api/v1/page-origins",
  group: "Account",
  summary: "Replace the pages that may embed the checkout",
  description: `The list becomes exactly this one. It takes effect with the next load of a page; frames that are open stay open. A live account
needs https.`,
  isExtension: true,
  isRetrySafe: true,
  scopes: [MANAGE_CHECKOUT],
  perMinute: 30,
  body,
  bodyExamples: { "Shop and its test site": pageOriginsExample },
  success: { status: 200, description: "The list as stored.", schema: pageOriginList, example: pageOriginsExample },
  faults: [],
  async handle(world, { account, body: { origins } }) {
    return { status: 200, body: { origins: await replaceMerchantOrigins(world, { accountId: account.id, origins }) } };
  },
});
