import { sql } from "kysely";
import type { ChainReader } from "../../chain/reader.ts";
import type { Db } from "../../db/database.ts";
import { array } from "../../db/parameters.ts";
import { isInboxOnChain } from "../../intent/inboxStore.ts";
import { isPriceReached } from "../../intent/paymentStatus.ts";
import type { Caip2 } from "../../kernel/caip.ts";
import { convertUnits } from "../../kernel/units.ts";
import type { World } from "../../world.ts";
import type { InboxTransfer } from "../movement.ts";
import { insertPostponed, type PostponedTransaction } from "./postponedStore.ts";

// Anybody can make tens of thousands of tiny transfers in one block. Their rows take seconds to write, and dust counts only once it is final. So
// their transactions wait as rows, and the payments beside and behind them are recorded first.

/** Transfers in one reading from which the tiny ones wait: fewer are written as fast as they are set aside. */
const AT_ONCE_MAX = 500;

type PostponeWorld = Pick<World, "db" | "clock" | "catalog">;

/**
 * Stores the transactions of which all transfers are dust, where a reading found very many, and returns the transfers of the others. A mint is
 * never dust: its burn was a deposit.
 */
export async function postponeDust(
  world: PostponeWorld,
  { caip2, mintSender }: Pick<ChainReader, "caip2" | "mintSender">,
  candidates: readonly InboxTransfer[],
): Promise<readonly InboxTransfer[]> {
  if (candidates.length <= AT_ONCE_MAX) return candidates;
  const minimums = await listMinimums(world.db, caip2, candidates);
  const decimals = new Map(
    world.catalog.assets.filter(({ chain }) => chain === caip2).map((asset) => [asset.token, asset.decimals]),
  );
  const pressing = new Set(
    candidates
      .filter((transfer) => {
        if (transfer.direction === "out" || transfer.counterparty === mintSender) return true;
        return !isDust(transfer, minimums.get(keyOf(transfer)), decimals.get(transfer.token));
      })
      .map(({ chainTx }) => chainTx),
  );
  const waiting = candidates.filter(({ chainTx }) => !pressing.has(chainTx));
  const stored = await insertPostponed(world.db, {
    chain: caip2,
    found: byTransaction(waiting),
    at: world.clock.now(),
  });
  return candidates.filter(({ chainTx }) => !stored.has(chainTx));
}

type Minimum = {
  inbox: string;
  token: string;
  minimumUnits: bigint;
  priceUnits: bigint | null;
  toleranceBps: number;
  payoutDecimals: number;
};

function isDust({ amountUnits }: InboxTransfer, known: Minimum | undefined, decimals: number | undefined): boolean {
  if (known === undefined || decimals === undefined || amountUnits >= known.minimumUnits) return false;
  const { priceUnits, toleranceBps, payoutDecimals } = known;
  return (
    priceUnits === null ||
    !isPriceReached(priceUnits, toleranceBps, convertUnits(amountUnits, decimals, payoutDecimals))
  );
}

/** The pinned minimum and the price of each inbox and token. */
async function listMinimums(db: Db, chain: Caip2, candidates: readonly InboxTransfer[]): Promise<Map<string, Minimum>> {
  const asked = [...new Map(candidates.map((transfer) => [keyOf(transfer), transfer])).values()];
  const [inboxes, tokens] = [asked.map(({ inbox }) => inbox), asked.map(({ token }) => token)];
  const { rows } = await sql<Minimum>`/* named: list_minimums */
    select asked.inbox, asked.token, minimum.units as "minimumUnits", (found.whole).price_token_units as "priceUnits",
      (found.whole).underpay_tolerance_bps as "toleranceBps", (found.whole).payout_decimals as "payoutDecimals"
    from unnest(${array(inboxes, "text")}, ${array(tokens, "text")}) as asked (inbox, token)
    cross join lateral (
      select intent_id from inbox where inbox.address = asked.inbox and ${isInboxOnChain(chain)} offset 0) as owned
    cross join lateral (select each as whole from intent each where each.id = owned.intent_id offset 0) as found
    cross join lateral pinned_minimum(found.whole, ${chain}, asked.token) as minimum (units)`.execute(db.root);
  return new Map(rows.map((row) => [keyOf(row), row]));
}

function keyOf({ inbox, token }: Pick<InboxTransfer, "inbox" | "token">): string {
  return `${inbox}/${token}`;
}

function byTransaction(transfers: readonly InboxTransfer[]): PostponedTransaction[] {
  return [...Map.groupBy(transfers, ({ chainTx }) => chainTx)].flatMap(([chainTx, ofTransaction]) => {
    const [first] = ofTransaction;
    const inboxes = [...new Set(ofTransaction.map(({ inbox }) => inbox))];
    return first === undefined ? [] : [{ chainTx, blockNumber: first.blockNumber, inboxes }];
  });
}
