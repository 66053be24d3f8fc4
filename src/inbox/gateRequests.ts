import type { Asset } from "../catalog/catalog.ts";
import { GateUnavailable, type BindRequest, type Gate } from "../gate/gate.ts";
import type { IntentRow } from "../intent/store.ts";
import { addressFormatOf } from "../chain/namespaces.ts";
import type { Caip2 } from "../kernel/caip.ts";
import { Fault } from "../kernel/faults.ts";
import type { World } from "../world.ts";
import { raiseAlarm } from "../kernel/alarm/raiseAlarm.ts";

// Sends requests to the issuing gate and maps its verdicts to API faults. The gate may refuse an inbox, but never issue
// another address than the intent's own inbox.

type GateWorld = Pick<World, "gate" | "log">;
type InboxRequest = { intent: IntentRow; origin: Asset };
/** `address`: the one that follows from the intent. */
type IssueRequest = InboxRequest & { address: string };

/**
 * Requests the binding of the intent's customer, and returns once it is bound. Throws customer_not_bound,
 * source_inbox_unavailable, source_inbox_refused or source_inbox_not_active.
 */
export async function requestBinding(world: GateWorld, request: InboxRequest): Promise<void> {
  // On chains without a remote gate the create binds the customer.
  if (request.origin.gate === "local") return;
  const verdict = await callGate(world, (gate) => gate.bindCustomer(toBindRequest(request)));
  if (verdict.kind === "pending") throw new Fault("customer_not_bound");
  if (verdict.kind === "refused") throw sourceInboxRefused(request, `refused its customer: ${verdict.reason}`);
}

/** Asks whether an inbox may be issued. Throws the same faults as requestBinding. */
export async function requestInbox(world: GateWorld, request: IssueRequest): Promise<void> {
  const { intent, origin, address: own } = request;
  if (origin.gate === "local") return;
  const isOfToken = origin.namespace === "solana";
  const issueRequest = {
    ...toBindRequest(request),
    token: isOfToken ? origin.token : null,
    address: own,
  };
  const verdict = await callGate(world, (gate) => gate.issueInbox(issueRequest));
  switch (verdict.kind) {
    case "pending":
      throw new Fault("customer_not_bound");
    case "disabled":
      throw new Fault("source_inbox_not_active");
    case "refused":
      throw sourceInboxRefused(request, `refused an inbox: ${verdict.reason}`);
    case "issued": {
      const { address } = verdict;
      if (addressFormatOf(origin.namespace).parse(address) !== own)
        throw reportWrongAddress(world, { intent, chain: origin.chain, address });
      return;
    }
  }
}

async function callGate<T>({ gate, log }: GateWorld, call: (gate: Gate) => Promise<T>): Promise<T> {
  if (gate === undefined) throw new Fault("source_inbox_not_active");
  try {
    return await call(gate);
  } catch (error) {
    if (!(error instanceof GateUnavailable)) throw error;
    // A protocol error persists until an operator fixes the gate; other failures may pass by themselves.
    log[error.isProtocolError ? "error" : "warn"]({ err: error }, "the issuing gate returned no verdict");
    throw new Fault("source_inbox_unavailable", { cause: error });
  }
}

function toBindRequest({ intent, origin }: InboxRequest): BindRequest {
  return { intentId: intent.id, livemode: intent.livemode, chain: origin.chain };
}

/** The reason goes into the cause, which is logged and never sent to the merchant: it may hold compliance data. */
function sourceInboxRefused({ intent, origin }: InboxRequest, refusal: string): Fault {
  return new Fault("source_inbox_refused", {
    cause: new Error(`for ${intent.id} on ${origin.chain} the gate ${refusal}`),
  });
}

/** Logs the alarm for a wrong address from the gate, and returns the fault for the caller. */
function reportWrongAddress(
  { log }: Pick<World, "log">,
  { intent, chain, address }: { intent: IntentRow; chain: Caip2; address: string },
): Fault {
  const wrong = "not the one that follows from the intent";
  const fields = { alarm: "gate_issued_wrong_address" as const, intent: intent.id, chain, address, wrong };
  raiseAlarm(log, fields, "the issuing gate issued a wrong address; nothing was stored");
  const cause = new Error(`for ${intent.id} on ${chain} the gate issued ${address}, which is ${wrong}`);
  return new Fault("source_inbox_refused", { cause });
}
