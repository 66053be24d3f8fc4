import { countUnreadable } from "../../watch/unreadable/unreadableStore.ts";
import type { World } from "../../world.ts";
import type { Finding } from "./finding.ts";

/** Describes what each chain holds and no provider's answer could be parsed for. */
export async function checkUnreadable(world: World): Promise<Finding[]> {
  const counts = await countUnreadable(world.db);
  return world.config.chains.map(({ caip2, name }): Finding => {
    const what = `${name}: unreadable`;
    const count = counts.find(({ chain }) => chain === caip2);
    if (count === undefined) return { what, verdict: "ok", found: "everything that names an inbox was read" };
    const { rows, inboxRows, leftOut, since, reason, inbox } = count;
    const more = leftOut > 0n ? `, and ${leftOut} more without a row` : "";
    const named = inboxRows > 0n ? `; ${inboxRows} name an inbox, such as ${inbox}` : "";
    return { what, verdict: "warn", found: `${rows} since ${since.toISOString()}${more}: ${reason}${named}` };
  });
}
