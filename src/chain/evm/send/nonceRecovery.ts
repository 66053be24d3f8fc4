import { addMs } from "../../../kernel/clock.ts";
import type { SubmitOutcome } from "../node.ts";
import { quoteCall, signAndStoreAtNonce } from "./signAndStore.ts";
import {
  closeOutgoing,
  markOutgoingLost,
  markOutgoingLostFrom,
  raiseNextNonce,
  reopenOutgoing,
  type OutgoingAttempt,
} from "./outgoingStore.ts";
import { findReceipt, type OpenOutgoing, type SenderContext } from "./senderContext.ts";
import type { SenderWorld } from "../../sender.ts";

// Nonces that can be used no more, and those that nothing of ours will ever use. What was to be sent with one that is given up is planned
// anew by whoever asked for it; should its bytes be mined after all, a second sweep moves nothing.

/** Nonces that came back and are used up in one call. */
const NONCE_GAP_MAX = 50n;
/** Nonces used up with nothing in one call. A reorg gives back few that are not ours; more were never used, and each one costs gas. */
const CANCEL_TRANSACTIONS_MAX = 10;
/** How often, and for how long, bytes are offered that nobody takes: a full pool, a lagging node or a bad hour of a provider may pass. */
const REJECTIONS_MAX = 10;
const REJECTED_MS_MIN = 5 * 60_000;
/** Who must say that a nonce is gone, where there are so many: one alone could have every later one wait behind it for ever. */
const CONFIRMING_PROVIDERS_MIN = 2;

/**
 * Nonces that the chain waits for and that nothing is being sent for: a reorg has taken back what had used them. No later one would
 * ever be mined, so our own bytes are sent again, and where there are none, a call of nothing.
 */
export async function fillNonceGap(
  world: SenderWorld,
  context: SenderContext,
  gap: { sender: string; from: bigint; below: bigint },
): Promise<void> {
  const below = gap.below - gap.from > NONCE_GAP_MAX ? gap.from + NONCE_GAP_MAX : gap.below;
  if (gap.from >= below) return;
  const facts = { ...gap, chain: context.caip2, from: String(gap.from), below: String(below) };
  world.log.error(facts, "nonces came back");
  const reopened = new Set(
    await reopenOutgoing(world.db, { chain: context.caip2, sender: gap.sender, from: gap.from, below }),
  );
  if (gap.sender !== context.gasAccount.address) return;
  const missing: bigint[] = [];
  for (let nonce = gap.from; nonce < below; nonce += 1n) if (!reopened.has(nonce)) missing.push(nonce);
  if (missing.length > CANCEL_TRANSACTIONS_MAX) {
    const alarm = { ...facts, alarm: "nonce_gap", missing: missing.length };
    world.log.error(
      alarm,
      "too many nonces are missing to pay for them all; nothing later is mined before they are used",
    );
    return;
  }
  for (const nonce of missing) {
    const cancel = await prepareCancelTransaction(world, context);
    await world.db.transaction((tx) => signAndStoreAtNonce(tx, context, { ...cancel, nonce }));
  }
}

async function prepareCancelTransaction(world: SenderWorld, context: SenderContext) {
  const call = { to: context.gasAccount.address, data: "0x" };
  return { call, quote: await quoteCall(world, context, call), at: world.clock.now() };
}

/**
 * The account's nonce has passed this one and no receipt is ours: somebody else has used the key. All that answer must say so, because what
 * one says alone would raise the next nonce beyond what the chain will ever come to.
 */
export async function abandonUsedNonce(
  world: SenderWorld,
  context: SenderContext,
  { transaction, attempts }: Pick<OpenOutgoing, "transaction" | "attempts">,
): Promise<void> {
  const replies = await context.providers.askEach(async (node) => ({
    // The nonce first: whoever counts our transaction in it has its receipt as well.
    nonce: await node.nonce(transaction.sender),
    receipt: await findReceipt(node, attempts),
  }));
  const answers = replies.flatMap((each) => ("answer" in each ? [each.answer] : []));
  if (answers.length < Math.min(context.providers.providerCount, CONFIRMING_PROVIDERS_MIN)) return;
  if (answers.some(({ nonce, receipt }) => receipt !== undefined || nonce <= transaction.nonce)) return;
  world.log.error(
    { chain: context.caip2, sender: transaction.sender, nonce: transaction.nonce.toString() },
    "a nonce was used by an unknown transaction",
  );
  const nextNonce = answers.map(({ nonce }) => nonce).reduce((least, nonce) => (nonce < least ? nonce : least));
  await closeOutgoing(world.db, { id: transaction.id, status: "lost", at: world.clock.now() });
  await raiseNextNonce(world.db, { chain: context.caip2, address: transaction.sender, nextNonce });
}

export function clearRejection({ rejectedTransactions }: SenderContext, { transaction, isNext }: OpenOutgoing): void {
  if (isNext) rejectedTransactions.delete(transaction.sender);
}

/**
 * A node has looked at the bytes and not taken them. While they hold the nonce that the chain waits for nothing else is mined, so once that
 * has gone on for long the nonce is filled with nothing. Of an account that was replaced all that is left is closed: nobody can sign for it.
 */
export async function cancelRejected(
  world: SenderWorld,
  context: SenderContext,
  rejected: { open: OpenOutgoing; attempt: OutgoingAttempt; outcome: SubmitOutcome },
): Promise<void> {
  const { open, attempt, outcome } = rejected;
  const { id, sender, nonce } = open.transaction;
  const isOurs = sender === context.gasAccount.address;
  if (!open.isNext || !isRejection(outcome, isOurs) || !exceedsRejectionLimit(world, context, { sender, attempt }))
    return;
  const facts = { alarm: "sending_given_up", chain: context.caip2, sender, nonce: String(nonce), outcome };
  if (!isOurs) {
    world.log.error(facts, "no node takes what a replaced gas account has signed; all that is left of it is given up");
    return markOutgoingLostFrom(world.db, { chain: context.caip2, sender, from: nonce, at: world.clock.now() });
  }
  world.log.error(facts, "no node takes a transaction; its nonce is used for nothing");
  const cancel = await prepareCancelTransaction(world, context);
  await world.db.transaction(async (tx) => {
    // Somebody else was quicker, and has filled the nonce.
    if (!(await markOutgoingLost(tx, { id, at: cancel.at }))) return;
    await signAndStoreAtNonce(tx, context, { ...cancel, nonce });
  });
}

/** Gas can still come to the account that we have; to one that was replaced it hardly will. */
function isRejection(outcome: SubmitOutcome, isOurs: boolean): boolean {
  if (outcome.kind === "no_funds") return !isOurs;
  return outcome.kind === "untakeable" || (outcome.kind === "unknown" && outcome.hasNodeReply === true);
}

/** Counts this offer. */
function exceedsRejectionLimit(
  world: SenderWorld,
  { rejectedTransactions }: SenderContext,
  { sender, attempt }: { sender: string; attempt: OutgoingAttempt },
): boolean {
  const now = world.clock.now();
  const known = rejectedTransactions.get(sender);
  const before = known?.chainTx === attempt.chain_tx ? known : { chainTx: attempt.chain_tx, submits: 0, since: now };
  const submits = before.submits + 1;
  rejectedTransactions.set(sender, { ...before, submits });
  return submits >= REJECTIONS_MAX && addMs(before.since, REJECTED_MS_MIN) <= now;
}
