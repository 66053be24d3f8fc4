import { parseBrandChange, updateBrand } from "../../../merchant/brand/updateBrand.ts";
import { MANAGE_CHECKOUT } from "../../../merchant/keys/scopes.ts";
import { decodeDataUrl } from "../../../merchant/logo/dataUrl.ts";
import { defineOperation } from "../../operation.ts";
import { readAccount } from "../../reads/readAccount.ts";
import { accountExample } from "../../schema/accountExample.ts";
import { account } from "../../schema/records/account.ts";
import { updateAccountBody } from "../../schema/requests/updateAccount.ts";

export const updateAccount = defineOperation({
  operationId: "updateAccount",
  method: "PATCH",
  path: "/api/v1/account",
  group: "Account",
  summary: "Change the looks of the checkout",
  description: `Changes the given fields: null restores a default, and a missing field stays as it is. It takes effect when a page is loaded.
A key can change nothing else of its account: payout, fee and name belong to the operator.`,
  isExtension: true,
  isRetrySafe: true,
  scopes: [MANAGE_CHECKOUT],
  perMinute: 30,
  body: updateAccountBody,
  bodyExamples: {
    "Colour and support": { brand: { accent: "#7a1f3d", radius: 12 }, support: "help@shop.example" },
    "Without the logo": { brand: { logo: null } },
  },
  success: { status: 200, description: "The account after the change.", schema: account, example: accountExample },
  faults: [],
  async handle(world, request) {
    const { brand = {}, support } = request.body;
    const { radius: radiusPx, logo, ...texts } = brand;
    const bytes = typeof logo === "string" ? decodeDataUrl(logo) : logo;
    const change = {
      ...parseBrandChange({ ...texts, radiusPx, logo: bytes }, "brand."),
      ...parseBrandChange({ support }),
    };
    if (Object.keys(change).length > 0) await updateBrand(world, request.account.id, change);
    return { status: 200, body: await readAccount(world, request) };
  },
});
