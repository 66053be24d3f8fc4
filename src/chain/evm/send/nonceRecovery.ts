import { hasElapsed } from "../../../kernel/clock.ts";
import type { SubmitOutcome } from "../node.ts";
import { quoteCall, signAndStoreAtNonce } from "./signAndStore.ts";
import {
  closeOutgoing,
  markOutgoingLost,
  markOutgoingLostFrom,
  raiseNextNonce,
  reopenOutgoing,
  type OutgoingAttempt,
} from "../../outgoing/outgoingStore.ts";
import { findReceipt, type OpenOutgoing, type SenderContext } from "./senderContext.ts";
import type { SenderWorld } from "../../sender.ts";
import { raiseAlarm } from "../../../kernel/alarm/raiseAlarm.ts";

// Recovers nonces: those that another transaction used, and those that no transaction of ours will use. Settlements
// plan abandoned work again. If the old bytes are mined after all, the second sweep moves nothing.

/** Reopened nonces per call. */
const NONCE_GAP_MAX = 50n;
/**
 * Nonces cancelled per call. A reorg returns few foreign nonces; the other gaps were never used, and each cancellation
 * costs gas.
 */
const CANCEL_TRANSACTIONS_MAX = 10;
/**
 * Rejections, and time in milliseconds, before cancelling: a full pool, a lagging node or a provider's outage may pass.
 */
const REJECTIONS_MAX = 10;
const REJECTED_MS_MIN = 5 * 60_000;
/**
 * Providers that must confirm a used nonce, where there are so many: a single false answer could block every later
 * nonce.
 */
const CONFIRMING_PROVIDERS_MIN = 2;

/**
 * Fills the nonces that the chain waits for and that have no open transaction, because a reorg dropped their
 * transactions. Later nonces cannot be mined before them. Sends our own bytes again, or a cancel transaction where
 * there are none.
 */
export async function fillNonceGap(
  world: SenderWorld,
  context: SenderContext,
  gap: { sender: string; from: bigint; below: bigint },
): Promise<void> {
  const below = gap.below - gap.from > NONCE_GAP_MAX ? gap.from + NONCE_GAP_MAX : gap.below;
  if (gap.from >= below) return;
  const facts = { ...gap, chain: context.caip2, from: String(gap.from), below: String(below) };
  const reopened = new Set(
    await reopenOutgoing(world.db, { chain: context.caip2, sender: gap.sender, from: gap.from, below }),
  );
  if (reopened.size > 0) world.log.error({ ...facts, reopened: reopened.size }, "nonces were freed by a reorg");
  if (gap.sender !== context.gasAccount.address) return;
  const missing: bigint[] = [];
  for (let nonce = gap.from; nonce < below; nonce += 1n) if (!reopened.has(nonce)) missing.push(nonce);
  if (missing.length > CANCEL_TRANSACTIONS_MAX) {
    const alarm = { ...facts, alarm: "nonce_gap" as const, missing: missing.length };
    raiseAlarm(
      world.log,
      alarm,
      "too many nonces are missing to cancel them all; later transactions wait until they are used",
    );
    return;
  }
  for (const nonce of missing) {
    const cancel = await prepareCancelTransaction(world, context);
    if (cancel === undefined) return;
    world.log.error({ ...facts, nonce: String(nonce) }, "a cancel transaction fills a missing nonce");
    await world.db.transaction((tx) => signAndStoreAtNonce(tx, context, { ...cancel, nonce }));
  }
}

/** Undefined while the fees exceed the ceiling. The nonce then stays missing, and the next call tries again. */
async function prepareCancelTransaction(world: SenderWorld, context: SenderContext) {
  const call = { to: context.gasAccount.address, data: "0x" };
  const quote = await quoteCall(world, context, call);
  return quote && { call, quote, at: world.clock.now() };
}

/**
 * The account's nonce is above this one, and no receipt is ours: another signer used the key. All answering providers
 * must agree, because one false answer would raise the next nonce above the chain's.
 */
export async function abandonUsedNonce(
  world: SenderWorld,
  context: SenderContext,
  { transaction, attempts }: Pick<OpenOutgoing, "transaction" | "attempts">,
): Promise<void> {
  const replies = await context.providers.runAll(async (node) => ({
    // The nonce first: a node that counts our transaction then has its receipt too.
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
 * Handles bytes that a node has checked and rejected. They block every later nonce, so after REJECTIONS_MAX a cancel
 * transaction takes their nonce. For a replaced account, which cannot sign, closes all open transactions.
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
  const facts = { alarm: "sending_given_up" as const, chain: context.caip2, sender, nonce: String(nonce), outcome };
  if (!isOurs) {
    raiseAlarm(
      world.log,
      facts,
      "nodes reject the transactions of a replaced gas account; its open transactions are closed",
    );
    return markOutgoingLostFrom(world.db, { chain: context.caip2, sender, from: nonce, at: world.clock.now() });
  }
  const cancel = await prepareCancelTransaction(world, context);
  if (cancel === undefined) return;
  raiseAlarm(world.log, facts, "nodes reject a transaction; a cancel transaction takes its nonce");
  await world.db.transaction(async (tx) => {
    // Another process was faster and has filled the nonce.
    if (!(await markOutgoingLost(tx, { id, at: cancel.at }))) return;
    await signAndStoreAtNonce(tx, context, { ...cancel, nonce });
  });
}

/** The current account may still receive gas; a replaced one hardly will. */
function isRejection(outcome: SubmitOutcome, isOurs: boolean): boolean {
  if (outcome.kind === "no_funds") return !isOurs;
  return outcome.kind === "untakeable" || (outcome.kind === "unknown" && outcome.hasNodeReply === true);
}

/** Counts this rejection, and returns whether the limit is reached. */
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
  return submits >= REJECTIONS_MAX && hasElapsed(REJECTED_MS_MIN, { since: before.since, now });
}
