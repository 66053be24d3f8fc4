import type { World } from "../world.ts";
import { listAccountRows, listKeyRows, type AccountRow, type ApiKeyRow, type ListPage } from "./store.ts";

/** Lists accounts, oldest first. */
export async function listAccounts(world: Pick<World, "db">, page: ListPage): Promise<AccountRow[]> {
  return listAccountRows(world.db, page);
}

/** Lists keys without their hashes, oldest first. */
export async function listKeys(
  world: Pick<World, "db">,
  page: ListPage & { accountId?: string | undefined },
): Promise<Omit<ApiKeyRow, "secret_hash">[]> {
  return (await listKeyRows(world.db, page)).map(({ secret_hash: _hash, ...key }) => key);
}
