import { sql } from "kysely";
import type { Db } from "../db/database.ts";
import { refreshHoldings } from "../deposit/holding/holdingStore.ts";
import { lockIntents } from "../intent/store.ts";
import type { Caip2 } from "../kernel/caip.ts";
import type { World } from "../world.ts";
import { isolateIntents } from "../handover/isolateIntents.ts";
import { isOpenSettlement, takenUnits, UNSWEPT_OF_INTENT } from "../deposit/openSettlement.ts";
import { reachesPrice } from "../intent/paymentStatus.ts";

// Every transaction that counts or sweeps money says in the holding what is counted and unswept, and from when a
// settlement is due. Should one have missed an inbox, nothing would come back to it: its money would stay there. So all
// holdings are looked at again, page after page, and compared with the deposits, whatever happened to them.

type ForgetfulWorld = Pick<World, "db" | "log" | "memory">;
type HoldingKey = { intentId: string; chain: Caip2; token: string };
type PageRow = HoldingKey & { isForgotten: boolean };

/** Holdings per call. */
const PAGE_MAX = 500;

/** The last holding of the page before. A process that starts begins with the first one. */
const POSITION = { create: (): { after: HoldingKey | undefined } => ({ after: undefined }) };

/**
 * Finds inboxes with counted money for which a settlement should be due and none is, on the next page of holdings, and
 * makes it due. Returns the chains where it is now. Reads one page, however many holdings there are, and writes nothing
 * where nothing was missed.
 */
export async function planForgotten(world: ForgetfulWorld): Promise<ReadonlySet<Caip2>> {
  const position = world.memory.get(POSITION);
  const page = await readPage(world.db, position.after);
  const forgotten = page.filter(({ isForgotten }) => isForgotten);
  for (const [chain, inboxes] of Map.groupBy(forgotten, (inbox) => inbox.chain)) {
    const intentIds = [...new Set(inboxes.map(({ intentId }) => intentId))];
    world.log.warn({ chain, intents: intentIds }, "inboxes hold counted money that no settlement was due for");
    await isolateIntents(world, {
      chain,
      work: "plan forgotten inboxes",
      intentIds,
      step: (ids) =>
        world.db.transaction(async (tx) => {
          await lockIntents(tx, ids);
          await refreshHoldings(tx, ids);
        }),
    });
  }
  position.after = page.length < PAGE_MAX ? undefined : page.at(-1);
  return new Set(forgotten.map(({ chain }) => chain));
}

/**
 * The same condition as the check `due-money-is-planned`, for the larger of what the holding says and what the deposits
 * say.
 */
async function readPage(db: Db, after: HoldingKey | undefined): Promise<PageRow[]> {
  const { intentId = "", chain = "", token = "" } = after ?? {};
  const { rows } = await sql<PageRow>`/* named: read_holdings_again */
    select page.intent_id as "intentId", page.chain, page.token,
      unswept.units > 0 and page.due_from is null and not exists (
        select from settlement where settlement.intent_id = page.intent_id and settlement.chain = page.chain
          and settlement.token = page.token and ${isOpenSettlement("settlement")})
      and (unswept.units >= minimum.units
        or ${reachesPrice(sql`intent.counted_units`)}
          and not ${reachesPrice(takenUnits(sql`greatest(${UNSWEPT_OF_INTENT}, unswept.units)`))}) is true as "isForgotten"
    from (
      select * from holding where (intent_id, chain, token) > (${intentId}, ${chain}, ${token})
      order by intent_id, chain, token limit ${PAGE_MAX}
    ) as page
    cross join lateral (
      select greatest(page.unswept_units, coalesce(sum(deposit.amount_units), 0)) as units from deposit
      where deposit.intent_id = page.intent_id and deposit.chain = page.chain and deposit.token = page.token
        and deposit.status = 'counted' and deposit.settlement_id is null
    ) as unswept
    cross join lateral (select each as whole from intent each where each.id = page.intent_id offset 0) as found
    cross join lateral (select (found.whole).*) as intent
    cross join lateral pinned_minimum(found.whole, page.chain, page.token) as minimum (units)
    order by page.intent_id, page.chain, page.token`.execute(db.root);
  return rows;
}
