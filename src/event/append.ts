import type { Tx } from "../db/database.ts";
import type { Entropy } from "../kernel/entropy.ts";
import { newId } from "../kernel/ids.ts";

export type EventType =
  | "payment_intent.created"
  | "payment_intent.partially_paid"
  | "payment_intent.paid"
  | "payment_intent.settled"
  | "payment_intent.reopened"
  | "payment_intent.reversed"
  | "payment_intent.archived"
  | "source_inbox.issued"
  | "deposit.seen"
  | "deposit.confirmed"
  | "deposit.counted"
  | "deposit.held"
  | "deposit.dropped"
  | "settlement.submitted"
  | "settlement.bridging"
  | "settlement.landed"
  | "settlement.held"
  | "settlement.failed";

export type NewEvent = {
  type: EventType;
  accountId: string;
  intentId: string;
  merchantReference: string | null;
  livemode: boolean;
  /** The resource as the API shows it after the change. */
  object: unknown;
  /** The fields that changed, with their values before; null when the resource is new. */
  previous: unknown;
};

/**
 * Appends what happened, in the transaction that makes it happen: there is no change without its event and no event without
 * its change. Order within an intent is the order of the calls; the public sequence is stamped after commit.
 */
export async function appendEvents(
  tx: Tx,
  world: { entropy: Entropy },
  batch: { events: readonly NewEvent[]; at: Date },
): Promise<void> {
  if (batch.events.length === 0) return;
  await tx
    .insertInto("event")
    .values(
      batch.events.map((event) => ({
        id: newId("evt", world.entropy),
        account_id: event.accountId,
        intent_id: event.intentId,
        type: event.type,
        livemode: event.livemode,
        merchant_reference: event.merchantReference,
        data: JSON.stringify({ object: event.object, previous: event.previous }),
        created_at: batch.at,
        sequence: null,
      })),
    )
    .execute();
}
