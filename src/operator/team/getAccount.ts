import { findAccount, type AccountRow } from "../../merchant/store.ts";
import type { World } from "../../world.ts";
import { CommandError } from "../errors.ts";

/** Throws CommandError for an unknown account: its lists would look empty. */
export async function getAccount(world: World, accountId: string): Promise<AccountRow> {
  const account = await findAccount(world.db, accountId);
  if (account === undefined) throw new CommandError(`There is no account ${accountId}.`);
  return account;
}
