import { sql } from "kysely";
import { unnest } from "../../db/parameters.ts";
import { insertSourceAddress, isInboxOnChain } from "../../intent/inboxStore.ts";
import { findHopOf } from "../../intent/pins/hopInbox.ts";
import { findIntentRoutes } from "../../intent/routes/findRoutes.ts";
import type { IntentRow } from "../../intent/store.ts";
import { namespaceOf, type Caip2 } from "../../kernel/caip.ts";
import type { World } from "../../world.ts";
import type { LocatedTransfer } from "../movement.ts";

// An inbox on the other kind of chains than the payout's has a row once it is issued. Its terms are public before: a
// payer can compute it, pay it, burn what it holds and receive that. Without the row, what the bridge gives would be a
// deposit, and what the burn took another one as soon as the inbox is issued.

type BurningWorld = Pick<World, "db" | "memory" | "clock">;
type UnknownBurner = { intent: IntentRow; sender: string };

/**
 * Stores the inboxes that burned for these transfers and have no row. Reads nothing unless a bridge gave what an account of another kind
 * of chain burned.
 */
export async function storeBurningInboxes(
  world: BurningWorld,
  chain: Caip2,
  located: readonly LocatedTransfer[],
): Promise<void> {
  const given = located.flatMap(({ direction, inbox, crossing }) =>
    direction === "in" && crossing?.sender !== undefined ? [{ inbox, sender: crossing.sender }] : [],
  );
  if (given.length === 0) return;
  for (const { intent, sender } of await listUnknownBurners(world, chain, given)) {
    const routes = await findIntentRoutes({ db: world.db.root, memory: world.memory }, intent);
    const hop = findHopOf(intent, routes, sender);
    if (hop === undefined) continue;
    const source = { ...hop, address: sender, intent_id: intent.id, at: world.clock.now() };
    await world.db.transaction((tx) => insertSourceAddress(tx, source));
  }
}

/**
 * The transfers as they are recorded: without the crossings that an account of another kind of chain began which is no
 * inbox of the same intent.
 */
export async function keepOwnCrossings(
  world: BurningWorld,
  chain: Caip2,
  located: readonly LocatedTransfer[],
): Promise<readonly LocatedTransfer[]> {
  const given = located.flatMap(({ inbox, crossing }) =>
    crossing?.sender === undefined ? [] : [{ inbox, sender: crossing.sender }],
  );
  if (given.length === 0) return located;
  await storeBurningInboxes(world, chain, located);
  const { rows } = await sql<{ inbox: string; sender: string }>`/* named: list_own_burners */
    select given.inbox, given.sender from ${unnest("given", given, { inbox: "text", sender: "text" })}
    join inbox on inbox.address = given.inbox and ${isInboxOnChain(chain)}
    join inbox burning on burning.address = given.sender and burning.namespace <> ${namespaceOf(chain)}
      and burning.intent_id = inbox.intent_id`.execute(world.db.root);
  const own = new Set(rows.map(({ inbox, sender }) => `${inbox}/${sender}`));
  return located.map((each) => {
    const sender = each.crossing?.sender;
    return sender === undefined || own.has(`${each.inbox}/${sender}`) ? each : { ...each, crossing: undefined };
  });
}

/** Burns whose sender is no known inbox, with the intents whose inboxes got the units. */
async function listUnknownBurners(
  { db }: BurningWorld,
  chain: Caip2,
  given: readonly { inbox: string; sender: string }[],
): Promise<UnknownBurner[]> {
  const { rows } = await sql<IntentRow & { burning_sender: string }>`/* named: list_unknown_burners */
    select intent.*, found.sender as burning_sender from (
      select distinct inbox.intent_id, given.sender from ${unnest("given", given, { inbox: "text", sender: "text" })}
      join inbox on inbox.address = given.inbox and ${isInboxOnChain(chain)}
      where not exists (
        select from inbox burning where burning.address = given.sender and burning.namespace <> ${namespaceOf(chain)})
    ) as found join intent on intent.id = found.intent_id`.execute(db.root);
  return rows.map(({ burning_sender: sender, ...intent }) => ({ intent, sender }));
}
