import { SCOPES } from "../../../merchant/keys/scopes.ts";
import { defineOperation } from "../../operation.ts";
import { readAccount } from "../../reads/readAccount.ts";
import { accountExample } from "../../schema/accountExample.ts";
import { account } from "../../schema/records/account.ts";

export const getAccount = defineOperation({
  operationId: "getAccount",
  method: "GET",
  path: "/api/v1/account",
  group: "Account",
  summary: "Get the account of the key",
  description: `Name, default destination, fee, looks of the checkout, the key's scopes and the rate limits. A key with any scope may read it.`,
  isExtension: true,
  scopes: SCOPES,
  perMinute: 120,
  success: { status: 200, description: "The account.", schema: account, example: accountExample },
  faults: [],
  async handle(world, request) {
    return { status: 200, body: await readAccount(world, request) };
  },
});
