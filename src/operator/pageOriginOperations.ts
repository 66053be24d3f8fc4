import {
  addPageOrigin as addMerchantOrigin,
  listPageOrigins as listMerchantOrigins,
  removePageOrigin as removeMerchantOrigin,
  type AccountPageOrigin,
} from "../merchant/pageOrigins.ts";
import type { World } from "../world.ts";
import { requiredText } from "./inputFields.ts";

export type PageOriginOutput = { accountId: string; origin: string };

export async function addPageOrigin(world: World, input: unknown): Promise<PageOriginOutput> {
  const pageOrigin = readAccountOrigin(input);
  return { accountId: pageOrigin.accountId, origin: await addMerchantOrigin(world, pageOrigin) };
}

export async function removePageOrigin(world: World, input: unknown): Promise<PageOriginOutput> {
  const pageOrigin = readAccountOrigin(input);
  return { accountId: pageOrigin.accountId, origin: await removeMerchantOrigin(world, pageOrigin) };
}

export async function listPageOrigins(world: World, input: unknown): Promise<string[]> {
  return listMerchantOrigins(world, requiredText(input, "accountId"));
}

function readAccountOrigin(input: unknown): AccountPageOrigin {
  return { accountId: requiredText(input, "accountId"), origin: requiredText(input, "origin") };
}
