import type { Db } from "../../db/database.ts";

/** The account of an endpoint, for an operator who knows the endpoint alone; undefined for an unknown or deleted one. */
export async function findAccountOfEndpoint(db: Db, endpointId: string): Promise<string | undefined> {
  const row = await db.root
    .selectFrom("webhook_endpoint")
    .select("account_id")
    .where("id", "=", endpointId)
    .where("deleted_at", "is", null)
    .executeTakeFirst();
  return row?.account_id;
}
