import { MANAGE_CHECKOUT } from "../../../merchant/keys/scopes.ts";
import { listPageOrigins as listMerchantOrigins } from "../../../merchant/pageOrigins.ts";
import { defineOperation } from "../../operation.ts";
import { pageOriginsExample } from "../../schema/accountExample.ts";
import { pageOriginList } from "../../schema/records/account.ts";

export const listPageOrigins = defineOperation({
  operationId: "listPageOrigins",
  method: "GET",
  path: "/api/v1/page-origins",
  group: "Account",
  summary: "List the pages that may embed the checkout",
  description: `\`mount()\` works on pages of these origins and on no others.`,
  isExtension: true,
  scopes: [MANAGE_CHECKOUT],
  perMinute: 120,
  success: { status: 200, description: "The list.", schema: pageOriginList, example: pageOriginsExample },
  faults: [],
  async handle(world, { account }) {
    return { status: 200, body: { origins: await listMerchantOrigins(world, account.id) } };
  },
});
