import type { World } from "../world.ts";
import { listAccountRows, listKeyRows, type AccountRow, type ApiKeyRow } from "./store.ts";

/** More than any installation has been seen with; a longer list would help nobody. */
const LIST_MAX = 1_000;

export async function listAccounts(world: Pick<World, "db">): Promise<AccountRow[]> {
  return listAccountRows(world.db, LIST_MAX);
}

/** Never with the secret's hash. */
export async function listKeys(
  world: Pick<World, "db">,
  accountId?: string,
): Promise<Omit<ApiKeyRow, "secret_hash">[]> {
  const rows = await listKeyRows(world.db, { limit: LIST_MAX, ...(accountId === undefined ? {} : { accountId }) });
  return rows.map(({ secret_hash: _hash, ...key }) => key);
}
