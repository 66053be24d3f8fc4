import type { Route } from "@tributary/inbox/routes";
import { zeroBytes32, type Hex } from "@tributary/inbox/terms";
import { computeSolanaInbox } from "@tributary/inbox/solana/address";
import { solanaTermsFromWire } from "@tributary/inbox/solana/wire";
import { hopsTo } from "../../catalog/hops.ts";
import { crossingMinimum } from "../../catalog/crossingMinimum.ts";
import { toCatalogRoute } from "../../catalog/routes.ts";
import { eventParameters } from "../../event/store.ts";
import { caip2 } from "../../kernel/caip.ts";
import { priceToTokenUnits } from "../../kernel/units.ts";
import { findNamespaceDefault } from "../../merchant/namespaceDefault.ts";
import { isOwnPayer } from "../../merchant/ownPayer.ts";
import type { AccountRow } from "../../merchant/store.ts";
import type { World } from "../../world.ts";
import { archiveIntent } from "../archiveIntent.ts";
import { newWidgetToken } from "../checkout/widgetToken.ts";
import { intentRecord } from "../intentRecord.ts";
import { toHopWireTerms } from "../pins/hopInbox.ts";
import { buildRouteSet, hopsOf, toStoredRouteSet, type RouteSet } from "../routes/routeSet.ts";
import { insertRouteSet } from "../routes/routeSetStore.ts";
import { findIntentById, findOccupant, insertOrRenewIntent, type IntentRow, type NewIntent } from "../store.ts";
import { ImportRefused, rootOf, type ImportedIntent } from "./readImported.ts";

export type ImportWorld = Pick<World, "db" | "clock" | "entropy" | "config" | "catalog" | "chains">;

/** `known`: the database has it, with this inbox. */
export type ImportResult = { outcome: "imported" | "known"; intent: IntentRow; occupies: boolean };

export type ImportInput = {
  imported: ImportedIntent;
  account: AccountRow;
  /** The routes of roots that other entries showed. */
  routesOf: ReadonlyMap<Hex, readonly Route[]>;
};

/** The transaction is repeated without a claim on the destination. */
class DestinationTaken extends Error {}

/**
 * Inserts an intent that the database lost, with its inbox and the event of a new one. It has a widget token that
 * nobody knows. It occupies its destination where that is free and was named by its create, as far as the account's
 * defaults show. Throws ImportRefused.
 */
export async function importIntent(world: ImportWorld, input: ImportInput): Promise<ImportResult> {
  const { row } = input.imported;
  const known = await findIntentById(world.db, row.id);
  if (known !== undefined) {
    if (known.inbox_address !== row.inbox_address) throw new ImportRefused("the database has it with another inbox");
    return { outcome: "known", intent: known, occupies: known.occupies };
  }
  if (isOwnPayer(world, row.payout_wallet)) throw new ImportRefused("this service pays its own fees from its payout");
  const routeSet = findRouteSet(world, input);
  if (routeSet !== undefined) await insertRouteSet(world.db, toStoredRouteSet(routeSet), world.clock.now());
  const intent = toNewIntent(world, input, routeSet);
  if (!intent.occupies || (await findOccupant(world.db.root, intent)) !== undefined)
    return insert(world, { ...intent, occupies: false }, input.imported);
  try {
    return await insert(world, intent, input.imported);
  } catch (error) {
    if (!(error instanceof DestinationTaken)) throw error;
    return insert(world, { ...intent, occupies: false }, input.imported);
  }
}

async function insert(world: ImportWorld, intent: NewIntent, { status }: ImportedIntent): Promise<ImportResult> {
  const event = {
    type: "payment_intent.created",
    accountId: intent.account_id,
    livemode: intent.livemode,
    object: intentRecord(intent, world.config),
    previous: null,
  } as const;
  const inserted = await world.db.transaction(async (tx) => {
    const row = await insertOrRenewIntent(tx, intent, eventParameters(world, event, world.clock.now()));
    if (row === undefined) throw new ImportRefused("its payout wallet is an inbox of this service");
    if (row.id !== intent.id) throw new DestinationTaken();
    return status === "archived" ? archiveIntent(tx, world, row.id) : row;
  });
  return { outcome: "imported", intent: inserted, occupies: intent.occupies };
}

function toNewIntent(
  { clock, entropy }: Pick<World, "clock" | "entropy">,
  { imported: { row, asset, status, hops }, account }: ImportInput,
  routeSet: RouteSet | undefined,
): NewIntent {
  const priceTokenUnits = row.price_units === null ? null : priceToTokenUnits(row.price_units, asset.decimals);
  if (priceTokenUnits === undefined) throw new ImportRefused("its price is no whole number of its token's units");
  const [hop] = hops;
  const intent: NewIntent = {
    ...row,
    account_id: account.id,
    status: "active",
    occupies: status === "active" && !isDefault(account, row),
    price_token_units: priceTokenUnits,
    payout_decimals: asset.decimals,
    rail_id: asset.railId,
    minimum_units: asset.minimumUnits,
    underpay_tolerance_bps: account.underpay_tolerance_bps,
    route_set: routeSet?.id ?? null,
    hop_recovery: (routeSet?.hops.length ?? 0) > 0 ? (hop?.recovery ?? null) : null,
    hop_hub: null,
    // Of a token that nobody has.
    widget_token_hash: newWidgetToken(entropy).hash,
    received_units: 0n,
    agreement_units: 0n,
    late_units: 0n,
    counted_units: 0n,
    settled_units: 0n,
    fee_units: 0n,
    net_units: 0n,
    pending_count: 0,
    customer_bound_at: asset.gate === "remote" ? null : clock.now(),
    updated_at: clock.now(),
    settled_at: null,
    archived_at: null,
  };
  const isSame = hopsOf(routeSet?.hops ?? []).every((each) => isSameInbox(intent, each, hops));
  return isSame ? intent : { ...intent, hop_recovery: null };
}

/** Whether the create named no destination, as far as the account's present default shows. */
function isDefault(account: AccountRow, row: ImportedIntent["row"]): boolean {
  const found = findNamespaceDefault(account, row.payout_namespace);
  return found?.wallet === row.payout_wallet && found.chainReference === row.payout_chain_reference;
}

/** Whether the entry shows the inbox on Solana that the set would give the intent. */
function isSameInbox(
  intent: NewIntent,
  hop: Parameters<typeof toHopWireTerms>[1],
  shown: ImportedIntent["hops"],
): boolean {
  if (intent.hop_recovery === null) return false;
  const addressOf = (wire: (typeof shown)[number]) => computeSolanaInbox(solanaTermsFromWire(wire), wire).address;
  const expected = addressOf(toHopWireTerms(intent, hop));
  return shown.some((wire) => addressOf(wire) === expected);
}

/** The routes of the root with the catalogue's minima; undefined without routes. Throws ImportRefused. */
function findRouteSet({ catalog }: ImportWorld, { imported, routesOf }: ImportInput): RouteSet | undefined {
  const root = rootOf(imported);
  const hops = imported.hops.length === 0 ? [] : hopsTo(catalog, imported.asset);
  if (root === zeroBytes32) return buildRouteSet([], hops);
  const routes = imported.routes ?? routesOf.get(root);
  if (routes === undefined) throw new ImportRefused(`no entry shows the routes of its root ${root}`);
  const pinned = routes.map((route) => {
    const chain = caip2("eip155", route.chainId.toString());
    const origin = catalog.assets.find((asset) => asset.chain === chain && asset.token === route.token);
    if (origin === undefined)
      throw new ImportRefused(`a route leads from ${route.token} on ${chain}, which is not configured`);
    return toCatalogRoute(route, {
      decimals: origin.decimals,
      minimumUnits: crossingMinimum(origin, imported.asset),
    });
  });
  return buildRouteSet(pinned, hops);
}
