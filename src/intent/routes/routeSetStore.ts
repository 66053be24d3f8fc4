import { sql } from "kysely";
import type { Db, Tx } from "../../db/database.ts";
import { array, json } from "../../db/parameters.ts";
import type { StoredRouteSet } from "./routeSet.ts";

/** Inserts a route set; an existing row of the same content stays unchanged. */
export async function insertRouteSet(
  db: Db,
  { id, root, routes, origins, hops }: StoredRouteSet,
  at: Date,
): Promise<void> {
  await db.root
    .insertInto("route_set")
    .values({ id, root, routes: json(routes), origins: json(origins), hops: json(hops), created_at: at })
    .onConflict((conflict) => conflict.column("id").doNothing())
    .execute();
}

export async function selectRouteSets(db: Db["root"] | Tx, ids: readonly string[]): Promise<StoredRouteSet[]> {
  const rows = await db
    .selectFrom("route_set")
    .select(["id", "root", "routes", "origins", "hops"])
    .where(sql<boolean>`id = any(${array(ids, "text")})`)
    .execute();
  // Only insertRouteSet writes the rows.
  return rows as StoredRouteSet[];
}
