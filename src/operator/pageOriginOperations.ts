import {
  addPageOrigin as addMerchantOrigin,
  listPageOrigins as listMerchantOrigins,
  removePageOrigin as removeMerchantOrigin,
} from "../merchant/pageOrigins.ts";
import { requiredText } from "./operation/inputFields.ts";
import { defineOperatorOperation } from "./operation/operatorOperation.ts";

const PAGE_ORIGIN = { accountId: requiredText, origin: requiredText } as const;

export const addPageOrigin = defineOperatorOperation({
  effect: "write",
  input: PAGE_ORIGIN,
  run: async (world, given) => ({ accountId: given.accountId, origin: await addMerchantOrigin(world, given) }),
});

export const removePageOrigin = defineOperatorOperation({
  effect: "write",
  input: PAGE_ORIGIN,
  run: async (world, given) => ({ accountId: given.accountId, origin: await removeMerchantOrigin(world, given) }),
});

export const listPageOrigins = defineOperatorOperation({
  effect: "read",
  input: { accountId: requiredText },
  run: (world, { accountId }) => listMerchantOrigins(world, accountId),
});
