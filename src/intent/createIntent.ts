import { hubAddress, implementationAddress } from "@tributary/inbox/hub";
import { inboxAddress } from "@tributary/inbox/address";
import { recoverAfter } from "@tributary/inbox/recoverAfter";
import { inboxSalt } from "@tributary/inbox/salt";
import type { Hex } from "@tributary/inbox/terms";
import type { Insertable } from "kysely";
import type { Tx } from "../db/database.ts";
import type { IntentTable } from "../db/schema.ts";
import { appendEvents } from "../event/store.ts";
import { Fault } from "../kernel/faults.ts";
import { newId } from "../kernel/ids.ts";
import { priceToTokenUnits } from "../kernel/units.ts";
import type { AccountRow } from "../merchant/store.ts";
import type { World } from "../world.ts";
import {
  namesDestination,
  resolveDestination,
  unsupported,
  type Destination,
  type DestinationInput,
} from "./destination.ts";
import { ensureDeployment } from "./deployment.ts";
import { intentRecord } from "./record.ts";
import { claimOccupant, insertIntent, isInbox, replaceWidgetToken, type IntentRow } from "./store.ts";
import { inboxTermsOf } from "./terms.ts";
import { newWidgetToken } from "./widgetToken.ts";

/** A create whose shape has been checked: types and bounds are right, null is the same as absent. */
export type CreateIntentInput = DestinationInput & {
  merchantReference?: string | null;
  metadata?: object | null;
  /** Millionths of the payout currency. */
  priceUnits?: number | null;
  oneTime?: boolean | null;
};

export type CreatedIntent = { intent: IntentRow; isCreated: boolean; widgetToken: string };

type CreateWorld = Pick<World, "db" | "clock" | "entropy" | "config" | "catalog">;
type Terms = { priceUnits: bigint | null; oneTime: boolean };

/** No rescue: nobody but the payout can ever get at the inbox. */
const NO_RECOVERY = `0x${"0".repeat(40)}`;
const NO_ROUTES = `0x${"0".repeat(64)}`;
/** An occupant may settle between the refused insert and the look at it; more than once or twice in a row means something is wrong. */
const TRIES_MAX = 5;

/**
 * Mints an intent, or returns the active one that occupies the same destination with the same terms; either way with a fresh
 * widget token. Which of two racing creates mints is decided by the database's unique index alone.
 * Throws price_required, the destination faults, invalid_request and destination_conflict; nothing is written then.
 */
export async function createIntent(
  world: CreateWorld,
  account: AccountRow,
  input: CreateIntentInput,
): Promise<CreatedIntent> {
  const terms: Terms = {
    priceUnits: typeof input.priceUnits === "number" ? BigInt(input.priceUnits) : null,
    oneTime: input.oneTime ?? false,
  };
  if (terms.oneTime && terms.priceUnits === null) throw new Fault("price_required", { param: "priceUnits" });
  const destination = resolveDestination(world.catalog, account, input);
  const { deploymentId } = await ensureDeployment(world.db, world.entropy);
  const { widgetToken, hash } = newWidgetToken(world.entropy);
  const row = { ...newIntentRow(world, { account, destination, terms, input, deploymentId }), widget_token_hash: hash };
  return world.db.transaction(async (tx) => {
    if (await isInbox(tx, destination.wallet)) {
      throw unsupported("payoutWallet", "This address is a deposit inbox of this service: money would never arrive.");
    }
    for (let tries = 0; tries < TRIES_MAX; tries += 1) {
      const minted = await insertIntent(tx, row);
      if (minted) return tellMinted(tx, world, { intent: minted, widgetToken });
      const occupant = await claimOccupant(tx, row);
      if (!occupant) continue;
      refuseOtherTerms(occupant, terms);
      const intent = await replaceWidgetToken(tx, { id: occupant.id, hash });
      return { intent, isCreated: false, widgetToken };
    }
    throw new Fault("internal_error");
  });
}

async function tellMinted(
  tx: Tx,
  world: CreateWorld,
  minted: { intent: IntentRow; widgetToken: string },
): Promise<CreatedIntent> {
  const { intent, widgetToken } = minted;
  const object = intentRecord(intent, { baseUrl: world.config.baseUrl });
  const about = { accountId: intent.account_id, intentId: intent.id, merchantReference: intent.merchant_reference };
  const event = {
    ...about,
    type: "payment_intent.created",
    livemode: intent.livemode,
    object,
    previous: null,
  } as const;
  await appendEvents(tx, world, { events: [event], at: intent.created_at });
  return { intent, isCreated: true, widgetToken };
}

function refuseOtherTerms(occupant: IntentRow, terms: Terms): void {
  if (occupant.price_units === terms.priceUnits && occupant.one_time === terms.oneTime) return;
  throw new Fault("destination_conflict", { details: { intentId: occupant.id } });
}

type Minting = {
  account: AccountRow;
  destination: Destination;
  terms: Terms;
  input: CreateIntentInput;
  deploymentId: Uint8Array;
};

/** Everything that the intent pins, from here on for ever. */
function newIntentRow(
  world: CreateWorld,
  minting: Minting,
): Omit<Insertable<IntentTable>, "widget_token_hash"> & { created_at: Date } {
  const { account, destination, terms, input } = minting;
  const { rail } = destination;
  const at = world.clock.now();
  const id = newId("pi", world.entropy);
  const pinned = {
    payout_namespace: destination.namespace,
    payout_chain_reference: destination.chainReference,
    payout_wallet: destination.wallet,
    payout_token: rail.token,
    fee_bps: account.fee_bps,
    fee_recipient: world.config.feeRecipient,
    recovery: account.recovery ?? (destination.namespace === "eip155" ? destination.wallet : NO_RECOVERY),
    recover_after: BigInt(recoverAfter(at)),
    routes_root: NO_ROUTES,
    inbox_salt: inboxSalt(`0x${Buffer.from(minting.deploymentId).toString("hex")}`, id) as Hex,
  };
  return {
    id,
    account_id: account.id,
    livemode: world.config.environment === "live",
    status: "active",
    occupies: namesDestination(input),
    price_units: terms.priceUnits,
    price_token_units: tokenPrice(terms.priceUnits, rail.decimals),
    one_time: terms.oneTime,
    merchant_reference: input.merchantReference ?? null,
    metadata: input.metadata ?? null,
    ...pinned,
    payout_decimals: rail.decimals,
    rail_id: rail.railId,
    minimum_units: rail.minimumUnits,
    underpay_tolerance_bps: account.underpay_tolerance_bps,
    inbox_hub: hubAddress,
    inbox_implementation: implementationAddress,
    inbox_address: inboxAddress(inboxTermsOf(pinned)),
    customer_bound_at: at,
    created_at: at,
    updated_at: at,
    settled_at: null,
    archived_at: null,
  };
}

function tokenPrice(priceUnits: bigint | null, decimals: number): bigint | null {
  if (priceUnits === null) return null;
  const tokenUnits = priceToTokenUnits(priceUnits, decimals);
  if (tokenUnits !== undefined) return tokenUnits;
  const message = `priceUnits must be a whole number of the payout token's units, which has ${decimals} decimals.`;
  throw new Fault("invalid_request", { param: "priceUnits", message });
}
