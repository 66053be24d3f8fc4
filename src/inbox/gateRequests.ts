import type { Asset } from "../catalog/catalog.ts";
import { GateUnavailable, type BindRequest, type Gate } from "../gate/gate.ts";
import type { IntentRow } from "../intent/store.ts";
import { normalizeEvmAddress, type Caip2 } from "../kernel/caip.ts";
import { Fault } from "../kernel/faults.ts";
import { decodeSolanaAddress } from "../kernel/solanaAddress.ts";
import { isSolanaProgram } from "../merchant/solanaWallet.ts";
import type { World } from "../world.ts";

// What the gate says, as a caller of ours is told it. Every word of the gate's that moves money is checked here: on EVM chains it may say
// no, and never another address than the one that follows from the intent.

type GateWorld = Pick<World, "gate" | "log" | "catalog">;
type InboxRequest = { intent: IntentRow; origin: Asset };

/** Returns once the customer is bound. Throws customer_not_bound, source_inbox_unavailable, source_inbox_refused or source_inbox_not_active. */
export async function requestBinding(world: GateWorld, question: InboxRequest): Promise<void> {
  // Where no gate has a say, the binding that the create made is all there is.
  if (question.origin.gate === "local") return;
  const verdict = await callGate(world, (gate) => gate.bindCustomer(toBindRequest(question)));
  if (verdict.kind === "pending") throw new Fault("customer_not_bound");
  if (verdict.kind === "refused") throw sourceInboxRefused(question, `refused its customer: ${verdict.reason}`);
}

/** The address of the inbox in stored form. Throws the same, and customer_not_bound where the gate has thought better of it. */
export async function requestInbox(world: GateWorld, question: InboxRequest): Promise<string> {
  const { intent, origin } = question;
  if (origin.gate === "local") return intent.inbox_address;
  const isSolana = origin.namespace === "solana";
  const request = {
    ...toBindRequest(question),
    token: isSolana ? origin.token : null,
    address: isSolana ? null : intent.inbox_address,
  };
  const verdict = await callGate(world, (gate) => gate.issueInbox(request));
  switch (verdict.kind) {
    case "pending":
      throw new Fault("customer_not_bound");
    case "disabled":
      throw new Fault("source_inbox_not_active");
    case "refused":
      throw sourceInboxRefused(question, `refused an inbox: ${verdict.reason}`);
    case "issued": {
      const { address } = verdict;
      const problem = isSolana
        ? findSolanaAddressProblem(world, intent, address)
        : findEvmAddressProblem(intent.inbox_address, address);
      if (problem !== undefined) throw reportWrongAddress(world, { intent, chain: origin.chain, address, problem });
      return isSolana ? address : intent.inbox_address;
    }
  }
}

async function callGate<T>({ gate, log }: GateWorld, call: (gate: Gate) => Promise<T>): Promise<T> {
  if (gate === undefined) throw new Fault("source_inbox_not_active");
  try {
    return await call(gate);
  } catch (error) {
    if (!(error instanceof GateUnavailable)) throw error;
    // A gate that is there and says what nobody understands stays so until a person looks.
    log[error.isProtocolError ? "error" : "warn"]({ err: error }, "the issuing gate gave no verdict");
    throw new Fault("source_inbox_unavailable", { cause: error });
  }
}

function toBindRequest({ intent, origin }: InboxRequest): BindRequest {
  return { intentId: intent.id, livemode: intent.livemode, chain: origin.chain };
}

/** The reason is for the log: what the gate thinks of a customer is not the merchant's to read. */
function sourceInboxRefused({ intent, origin }: InboxRequest, what: string): Fault {
  return new Fault("source_inbox_refused", {
    cause: new Error(`for ${intent.id} on ${origin.chain} the gate ${what}`),
  });
}

export type WrongAddress = {
  intent: Pick<IntentRow, "id">;
  chain: Caip2;
  address: string;
  /** What the address is instead of an inbox of the intent. */
  problem: string;
};

/** Raises the alarm about a gate that gives out an address which it may not, and returns what the caller is told. */
export function reportWrongAddress(
  { log }: Pick<World, "log">,
  { intent, chain, address, problem }: WrongAddress,
): Fault {
  const facts = { alarm: "gate_issued_wrong_address", intent: intent.id, chain, address, wrong: problem };
  log.error(facts, "the issuing gate gave out an address that may be no inbox; nothing was stored");
  const cause = new Error(`for ${intent.id} on ${chain} the gate issued ${address}, which is ${problem}`);
  return new Fault("source_inbox_refused", { cause });
}

function findEvmAddressProblem(inbox: string, answered: string): string | undefined {
  return normalizeEvmAddress(answered) === inbox ? undefined : "not the one that follows from the intent";
}

/** What an address on Solana is when it cannot hold the intent's deposits, as far as it alone tells; undefined when it can. */
function findSolanaAddressProblem({ catalog }: GateWorld, intent: IntentRow, address: string): string | undefined {
  if (decodeSolanaAddress(address) === undefined) return "no address";
  if (isSolanaProgram(address)) return "a program's";
  // A token's own address would swallow deposits.
  if (catalog.assets.some((asset) => asset.token === address)) return "a token's";
  // Every payout would be taken for another deposit. The fee's recipient and the recovery wallet are addresses of the EVM.
  return address === intent.payout_wallet ? "the intent's own payout wallet" : undefined;
}
