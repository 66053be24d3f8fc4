import type { Asset } from "../catalog/catalog.ts";
import { GateUnavailable, type BindRequest, type Gate } from "../chain/gate.ts";
import type { IntentRow } from "../intent/store.ts";
import { normalizeEvmAddress } from "../kernel/caip.ts";
import { Fault } from "../kernel/faults.ts";
import { solanaAddressBytes } from "../kernel/solanaAddress.ts";
import type { World } from "../world.ts";

// What the gate says, as a caller of ours is told it. Every word of the gate's that moves money is checked here: on EVM chains it may say
// no, and never another address than the one that follows from the intent.

type GateWorld = Pick<World, "gate" | "log" | "catalog">;
type Question = { intent: IntentRow; origin: Asset };

/** Returns once the customer is bound. Throws customer_not_bound, source_inbox_unavailable, source_inbox_refused or source_inbox_not_active. */
export async function askForBinding(world: GateWorld, question: Question): Promise<void> {
  // Where no gate has a say, the binding that the create made is all there is.
  if (question.origin.gate === "local") return;
  const verdict = await ask(world, (gate) => gate.bindCustomer(requestOf(question)));
  if (verdict.kind === "pending") throw new Fault("customer_not_bound");
  if (verdict.kind === "refused") throw refused(question, `refused its customer: ${verdict.reason}`);
}

/** The address of the inbox in stored form. Throws the same, and customer_not_bound where the gate has thought better of it. */
export async function askForInbox(world: GateWorld, question: Question): Promise<string> {
  const { intent, origin } = question;
  if (origin.gate === "local") return intent.inbox_address;
  const isSolana = origin.namespace === "solana";
  const request = {
    ...requestOf(question),
    token: isSolana ? origin.token : null,
    address: isSolana ? null : intent.inbox_address,
  };
  const verdict = await ask(world, (gate) => gate.issueInbox(request));
  switch (verdict.kind) {
    case "pending":
      throw new Fault("customer_not_bound");
    case "disabled":
      throw new Fault("source_inbox_not_active");
    case "refused":
      throw refused(question, `refused an inbox: ${verdict.reason}`);
    case "issued": {
      const isRight = isSolana ? isInbox(world, verdict.address) : isSame(verdict.address, intent.inbox_address);
      if (!isRight) throw refused(question, `issued ${verdict.address}, which cannot be its inbox`);
      return isSolana ? verdict.address : intent.inbox_address;
    }
  }
}

async function ask<T>({ gate, log }: GateWorld, question: (gate: Gate) => Promise<T>): Promise<T> {
  if (gate === undefined) throw new Fault("source_inbox_not_active");
  try {
    return await question(gate);
  } catch (error) {
    if (!(error instanceof GateUnavailable)) throw error;
    // A gate that is there and says what nobody understands stays so until a person looks.
    log[error.isNonsense ? "error" : "warn"]({ err: error }, "the issuing gate gave no verdict");
    throw new Fault("source_inbox_unavailable", { cause: error });
  }
}

function requestOf({ intent, origin }: Question): BindRequest {
  return { intentId: intent.id, livemode: intent.livemode, chain: origin.chain };
}

/** The reason is for the log: what the gate thinks of a customer is not the merchant's to read. */
function refused({ intent, origin }: Question, what: string): Fault {
  return new Fault("source_inbox_refused", {
    cause: new Error(`for ${intent.id} on ${origin.chain} the gate ${what}`),
  });
}

function isSame(answered: string, stored: string): boolean {
  return normalizeEvmAddress(answered) === stored;
}

/** An address that can hold deposits, as far as it alone tells; a token's own address would swallow them. */
function isInbox({ catalog }: GateWorld, address: string): boolean {
  return solanaAddressBytes(address) !== undefined && !catalog.assets.some((asset) => asset.token === address);
}
