import { computeRecoverAfter } from "@tributary/inbox/recoverAfter";
import { computeInboxSalt } from "@tributary/inbox/salt";
import { bytesToHex } from "viem";
import type { Db } from "../db/database.ts";
import { eventParameters, type EventParameters } from "../event/store.ts";
import { Fault } from "../kernel/faults.ts";
import { newId } from "../kernel/ids.ts";
import { priceToTokenUnits } from "../kernel/units.ts";
import { isOwnPayer } from "../merchant/ownPayer.ts";
import type { AccountRow } from "../merchant/store.ts";
import type { World } from "../world.ts";
import {
  hasExplicitDestination,
  resolveDestination,
  unsupportedDestination,
  type Destination,
  type DestinationInput,
} from "./pins/destination.ts";
import { ensureDeployment } from "./deployment.ts";
import { intentRecord } from "./intentRecord.ts";
import { requireReturnUrl } from "./checkout/returnUrl.ts";
import { isInboxAddress } from "./inboxStore.ts";
import { payoutChain } from "./payoutAsset.ts";
import { findOccupant, insertOrRenewIntent, type IntentRow, type NewIntent } from "./store.ts";
import { pinInbox } from "./pins/pinInbox.ts";
import { pinRoutes, pinRoutesTo } from "./pins/pinRoutes.ts";
import { ensureRouteSets } from "./routes/ensureRouteSets.ts";
import type { RouteSet } from "./routes/routeSet.ts";
import { newWidgetToken } from "./checkout/widgetToken.ts";

/** A create whose shape has been checked: types and bounds are right, null is the same as absent. */
export type CreateIntentInput = DestinationInput & {
  merchantReference?: string | null;
  metadata?: object | null;
  /** Millionths of the payout currency. */
  priceUnits?: number | null;
  oneTime?: boolean | null;
  /** Where the checkout page links back to. */
  returnUrl?: string | null;
  /** Shown to the payer. */
  description?: string | null;
};

export type CreatedIntent = { intent: IntentRow; isCreated: boolean; widgetToken: string };

type CreateWorld = Pick<World, "db" | "clock" | "entropy" | "memory" | "config" | "catalog"> &
  Partial<Pick<World, "chains">>;
type PriceTerms = { priceUnits: bigint | null; oneTime: boolean };

/**
 * An occupant may leave between the refusal and the look at it; more than once or twice in a row means something is
 * wrong.
 */
const TRIES_MAX = 5;

/**
 * Creates an intent, or returns the active one that occupies the same destination with the same terms; either way with
 * a fresh widget token. It is one statement, so `on` may be the database itself, or a transaction that has more to
 * write; before that one begins, prepareCreate has been called. Which of two racing creates wins is decided by the
 * database's unique index alone. Throws price_required, the destination faults, invalid_request and
 * destination_conflict; nothing is written then.
 */
export async function createIntent(
  db: Db["root"],
  world: CreateWorld,
  { account, input }: { account: AccountRow; input: CreateIntentInput },
): Promise<CreatedIntent> {
  const terms: PriceTerms = {
    priceUnits: typeof input.priceUnits === "number" ? BigInt(input.priceUnits) : null,
    oneTime: input.oneTime ?? false,
  };
  if (terms.oneTime && terms.priceUnits === null) throw new Fault("price_required", { param: "priceUnits" });
  const destination = resolveDestination(world.catalog, account, input);
  if (isOwnPayer(world, destination.wallet))
    throw unsupportedDestination("payoutWallet", "This service pays its own fees from this address.");
  const { deploymentId } = await ensureDeployment(world);
  const { widgetToken, hash } = newWidgetToken(world.entropy);
  const routeSet = (await ensureRouteSets(world)).get(destination.rail.railId);
  const details = { account, destination, terms, input, deploymentId, widgetTokenHash: hash, routeSet };
  const newIntent = newIntentRow(world, details);
  const createdEvent = createdEventParameters(world, newIntent);
  for (let tries = 0; tries < TRIES_MAX; tries += 1) {
    const intent = await insertOrRenewIntent(db, newIntent, createdEvent);
    if (intent !== undefined) return { intent, isCreated: intent.id === newIntent.id, widgetToken };
    await throwIfConflicting(db, newIntent);
  }
  throw new Fault("internal_error");
}

/** Stores what every create needs once, so that a create in a transaction reads nothing from the database itself. */
export async function prepareCreate(world: CreateWorld): Promise<void> {
  await ensureDeployment(world);
  await ensureRouteSets(world);
}

function createdEventParameters(world: CreateWorld, intent: NewIntent): EventParameters {
  const event = {
    type: "payment_intent.created",
    accountId: intent.account_id,
    livemode: intent.livemode,
    object: intentRecord(intent, world.config),
    previous: null,
  } as const;
  return eventParameters(world, event, intent.created_at);
}

/** Says why nothing was written; returns when the reason is gone already. */
async function throwIfConflicting(db: Db["root"], intent: NewIntent): Promise<void> {
  // Paying out into an inbox would go round without end.
  if (await isInboxAddress(db, payoutChain(intent), intent.payout_wallet)) {
    throw unsupportedDestination(
      "payoutWallet",
      "This address is a deposit inbox of this service: money would never arrive.",
    );
  }
  const occupant = await findOccupant(db, intent);
  if (occupant === undefined) return;
  if (occupant.price_units === intent.price_units && occupant.one_time === intent.one_time) return;
  throw new Fault("destination_conflict", { details: { intentId: occupant.id } });
}

type NewIntentDetails = {
  account: AccountRow;
  destination: Destination;
  terms: PriceTerms;
  input: CreateIntentInput;
  deploymentId: Uint8Array;
  widgetTokenHash: Uint8Array;
  routeSet: RouteSet | undefined;
};

/** Everything that the intent pins permanently. */
function newIntentRow(world: CreateWorld, details: NewIntentDetails): NewIntent {
  const { account, destination, terms, input } = details;
  const { rail } = destination;
  const at = world.clock.now();
  const id = newId("pi", world.entropy);
  const pinned = {
    payout_namespace: destination.namespace,
    payout_chain_reference: destination.chainReference,
    payout_wallet: destination.wallet,
    payout_token: rail.token,
    fee_bps: account.fee_bps,
    recover_after: BigInt(computeRecoverAfter(at)),
    ...pinRoutes(destination.namespace === "eip155" ? details.routeSet : undefined, account),
    inbox_salt: computeInboxSalt(bytesToHex(details.deploymentId), id),
  };
  const inbox = { ...pinned, ...pinInbox(world.config, pinned, account) };
  return {
    id,
    account_id: account.id,
    livemode: world.config.environment === "live",
    status: "active",
    occupies: hasExplicitDestination(input),
    price_units: terms.priceUnits,
    price_token_units: tokenPrice(terms.priceUnits, rail.decimals),
    one_time: terms.oneTime,
    merchant_reference: input.merchantReference ?? null,
    metadata: input.metadata ?? null,
    ...inbox,
    ...(destination.namespace === "solana" && pinRoutesTo(inbox, details.routeSet, account)),
    payout_decimals: rail.decimals,
    rail_id: rail.railId,
    minimum_units: rail.minimumUnits,
    underpay_tolerance_bps: account.underpay_tolerance_bps,
    widget_token_hash: details.widgetTokenHash,
    received_units: 0n,
    agreement_units: 0n,
    late_units: 0n,
    counted_units: 0n,
    settled_units: 0n,
    fee_units: 0n,
    net_units: 0n,
    pending_count: 0,
    // Where a remote gate has a say, the customer is bound when it has said so.
    customer_bound_at: rail.gate === "remote" ? null : at,
    created_at: at,
    updated_at: at,
    settled_at: null,
    archived_at: null,
    return_url: requireReturnUrl(input.returnUrl ?? null, world.config.environment),
    description: input.description ?? null,
  };
}

function tokenPrice(priceUnits: bigint | null, decimals: number): bigint | null {
  if (priceUnits === null) return null;
  const tokenUnits = priceToTokenUnits(priceUnits, decimals);
  if (tokenUnits !== undefined) return tokenUnits;
  const message = `priceUnits must be a whole number of the payout token's units, which has ${decimals} decimals.`;
  throw new Fault("invalid_request", { param: "priceUnits", message });
}
