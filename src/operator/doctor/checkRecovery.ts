import { warnOfRecovery } from "../recoveryReach.ts";
import type { World } from "../../world.ts";
import type { Finding } from "./finding.ts";

/** The newest accounts; an older one was warned about when it was created or changed. */
const ACCOUNTS_MAX = 100;

/** Whether the recovery of the active accounts reaches other chains than their payout's. */
export async function checkRecovery(world: World): Promise<Finding[]> {
  const rows = await world.db.root
    .selectFrom("account")
    .selectAll()
    .where("status", "=", "active")
    .orderBy("created_at", "desc")
    .limit(ACCOUNTS_MAX)
    .execute();
  const findings: Finding[] = [];
  for (const row of rows)
    for (const found of await warnOfRecovery(world, row))
      findings.push({ what: `recovery: ${row.id}`, verdict: "warn", found });
  return findings;
}
