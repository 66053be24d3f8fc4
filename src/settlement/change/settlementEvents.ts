import type { EventType, NewEvent } from "../../event/event.ts";
import { changedFields } from "../../event/changedFields.ts";
import type { IntentRow } from "../../intent/store.ts";
import { settlementRecord } from "./settlementRecord.ts";
import type { Settlement } from "../settlement.ts";

const EVENT_TYPES = {
  submitted: "settlement.submitted",
  bridging: "settlement.bridging",
  landed: "settlement.landed",
  held: "settlement.held",
  failed: "settlement.failed",
} as const satisfies Partial<Record<Settlement["status"], EventType>>;

/** The event of a settlement's new state; none while it is planned, or when the state is unchanged. */
export function settlementEvents(intent: IntentRow, before: Settlement | undefined, after: Settlement): NewEvent[] {
  if (after.status === "planned" || before?.status === after.status) return [];
  const object = settlementRecord(after);
  return [
    {
      type: EVENT_TYPES[after.status],
      accountId: intent.account_id,
      intentNumber: intent.seq,
      livemode: intent.livemode,
      object,
      previous: before === undefined ? null : changedFields(settlementRecord(before), object),
    },
  ];
}
