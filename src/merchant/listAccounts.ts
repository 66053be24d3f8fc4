import type { World } from "../world.ts";
import { listAccountRows, listKeyRows, type AccountRow, type ApiKeyRow } from "./store.ts";

/** Far above the number of accounts in any known installation; a longer list would not be readable. */
const LIST_MAX = 1_000;

export async function listAccounts(world: Pick<World, "db">): Promise<AccountRow[]> {
  return listAccountRows(world.db, LIST_MAX);
}

/** Lists keys without their hashes. */
export async function listKeys(
  world: Pick<World, "db">,
  accountId?: string,
): Promise<Omit<ApiKeyRow, "secret_hash">[]> {
  const rows = await listKeyRows(world.db, { limit: LIST_MAX, ...(accountId === undefined ? {} : { accountId }) });
  return rows.map(({ secret_hash: _hash, ...key }) => key);
}
