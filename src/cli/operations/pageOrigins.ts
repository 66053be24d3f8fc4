import {
  addPageOrigin as addMerchantOrigin,
  listPageOrigins as listMerchantOrigins,
  removePageOrigin as removeMerchantOrigin,
  type AccountOrigin,
} from "../../merchant/pageOrigins.ts";
import type { World } from "../../world.ts";
import { neededText } from "./input.ts";

export type ShownPageOrigin = { accountId: string; origin: string };

export async function addPageOrigin(world: World, input: unknown): Promise<ShownPageOrigin> {
  const named = readAccountOrigin(input);
  return { accountId: named.accountId, origin: await addMerchantOrigin(world, named) };
}

export async function removePageOrigin(world: World, input: unknown): Promise<ShownPageOrigin> {
  const named = readAccountOrigin(input);
  return { accountId: named.accountId, origin: await removeMerchantOrigin(world, named) };
}

export async function listPageOrigins(world: World, input: unknown): Promise<string[]> {
  return listMerchantOrigins(world, neededText(input, "accountId"));
}

function readAccountOrigin(input: unknown): AccountOrigin {
  return { accountId: neededText(input, "accountId"), origin: neededText(input, "origin") };
}
