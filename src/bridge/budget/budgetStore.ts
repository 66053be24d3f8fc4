import { sql } from "kysely";
import type { Db } from "../../db/database.ts";
import { array } from "../../db/parameters.ts";

/**
 * Sets when a budget is free again. False while it is used up. `latest`: a later time was stored before a clock stepped
 * back.
 */
export async function takeBudget(
  db: Db,
  { name, freeAt, at, latest }: { name: string; freeAt: Date; at: Date; latest: Date },
): Promise<boolean> {
  const { rows } = await sql`
    insert into bridge_budget (name, free_at) values (${name}, ${freeAt})
    on conflict (name) do update set free_at = excluded.free_at
      where bridge_budget.free_at <= ${at} or bridge_budget.free_at > ${latest}
    returning name`.execute(db.root);
  return rows.length > 0;
}

/** Whether takeBudget would take it. */
export async function isBudgetFree(
  db: Db,
  { name, at, latest }: { name: string; at: Date; latest: Date },
): Promise<boolean> {
  const { rows } = await sql`
    select from bridge_budget where name = ${name} and free_at > ${at} and free_at <= ${latest}`.execute(db.root);
  return rows.length === 0;
}

/** Sets when budgets are free again. */
export async function closeBudgets(db: Db, names: readonly string[], freeAt: Date): Promise<void> {
  await sql`
    insert into bridge_budget (name, free_at) select name, ${freeAt}::timestamptz from unnest(${array(names, "text")}) as budget (name)
    on conflict (name) do update set free_at = excluded.free_at`.execute(db.root);
}
