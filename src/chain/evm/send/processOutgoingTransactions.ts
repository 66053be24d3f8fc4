import { referenceOf } from "../../../kernel/caip.ts";
import { hasElapsed } from "../../../kernel/clock.ts";
import { warnRepeated } from "../../../kernel/alarm/repeatedWarning.ts";
import { ProviderFailed, type ChainReader } from "../../reader.ts";
import type { FeeLimits, SubmitOutcome } from "../node.ts";
import { bumpFees, requestFees } from "./fees.ts";
import { fillNonceGap, clearRejection, abandonUsedNonce, cancelRejected } from "./nonceRecovery.ts";
import {
  closeOutgoing,
  insertAttempt,
  listOpenSenders,
  listOpenOutgoing,
  markSubmitted,
  type OutgoingAttempt,
} from "../../outgoing/outgoingStore.ts";
import { findReceipt, type OpenOutgoing, type SenderContext } from "./senderContext.ts";
import type { SenderWorld } from "../../sender.ts";

/**
 * Outgoing transactions of an account per call: this many broadcast and this many closed. Lowest nonces first, because
 * later ones wait for them.
 */
const OUTGOING_MAX = 50;
/** Gas accounts with open transactions: the current one, and replaced ones. */
const SENDERS_MAX = 10;
/** A block this deep counts as final on a chain without the `finalized` tag. */
const FINAL_DEPTH_WITHOUT_TAG = 1_024n;
/** How long an attempt waits for a block before one with a higher fee replaces it. */
const FEE_BUMP_AFTER_MS = 60_000;
/** Attempts per nonce. With 13 % each, the last one offers about thirty times the first. */
const ATTEMPTS_MAX = 30;

/**
 * Processes every open transaction of a chain: broadcasts its bytes until a block includes them, raises the fee when it
 * is stuck, and closes it when its block is final. An error answer is never final: the bytes stay valid and are sent
 * again, until nodes have rejected them for long and a cancel transaction takes their nonce.
 */
export async function processOutgoingTransactions(world: SenderWorld, context: SenderContext): Promise<void> {
  const senders = await listOpenSenders(world.db, { chain: context.caip2, limit: SENDERS_MAX });
  for (const sender of senders) await processSender(world, context, sender);
}

/** Where finality takes minutes, many transactions wait for it; they must not delay new broadcasts. */
async function processSender(world: SenderWorld, context: SenderContext, sender: string): Promise<void> {
  const nextNonce = await context.providers.nonce(sender);
  const scope = { chain: context.caip2, sender, limit: OUTGOING_MAX };
  const used = await listOpenOutgoing(world.db, { ...scope, nonces: { below: nextNonce } });
  await closeFinalized(world, context, used);
  const [lowest] = await listOpenOutgoing(world.db, { ...scope, nonces: { from: nextNonce }, limit: 1 });
  if (lowest) await fillNonceGap(world, context, { sender, from: nextNonce, below: lowest.transaction.nonce });
  const unconfirmed = await listOpenOutgoing(world.db, { ...scope, nonces: { from: nextNonce } });
  const waiting = unconfirmed.map((each) => ({ ...each, isNext: each.transaction.nonce === nextNonce }));
  for (const each of waiting) await broadcast(world, context, each);
}

/** Closes transactions with used nonces whose block is final. */
async function closeFinalized(
  world: SenderWorld,
  context: SenderContext,
  used: readonly Omit<OpenOutgoing, "isNext">[],
): Promise<void> {
  if (used.length === 0) return;
  const finalNumber = await fetchFinalizedNumber(context.providers);
  for (const open of used) {
    const receipt = await findReceipt(context.providers, open.attempts);
    if (receipt === undefined) {
      await broadcast(world, context, { ...open, isNext: false });
      continue;
    }
    // Before finality a reorg may drop the transaction, and then the same bytes are broadcast again.
    if (receipt.blockNumber > finalNumber) return;
    const status = receipt.succeeded ? "mined" : "reverted";
    const { chainTx, blockNumber } = receipt;
    await closeOutgoing(world.db, { id: open.transaction.id, status, chainTx, blockNumber, at: world.clock.now() });
  }
}

/** The last final block. Many chains and providers do not support the tag. */
async function fetchFinalizedNumber(reader: ChainReader): Promise<bigint> {
  try {
    return (await reader.head("finalized")).number;
  } catch (error) {
    if (!(error instanceof ProviderFailed)) throw error;
    return (await reader.head("latest")).number - FINAL_DEPTH_WITHOUT_TAG;
  }
}

async function broadcast(world: SenderWorld, context: SenderContext, outgoing: OpenOutgoing): Promise<void> {
  // A replaced account's bytes can still be broadcast, but it cannot sign new ones.
  const isOurs = outgoing.transaction.sender === context.gasAccount.address;
  const fees = isOurs && isStuck(world, outgoing) ? await quoteFeeBump(world, context, outgoing) : undefined;
  const attempt = fees === undefined ? outgoing.attempts[0] : await signFeeBump(world, context, { ...outgoing, fees });
  if (attempt === undefined) return;
  // The node that accepted these bytes, or a cheaper attempt, may have dropped them or never propagated them.
  const isFirst = attempt.attempt === 1 && attempt.submitted_at === null;
  const outcome = await context.providers.submit(attempt.raw, isFirst ? "one" : "all");
  switch (outcome.kind) {
    case "accepted":
    case "known":
      clearRejection(context, outgoing);
      return markSubmitted(world.db, { chainTx: attempt.chain_tx, at: world.clock.now() });
    case "nonce_used":
      return abandonUsedNonce(world, context, outgoing);
    case "underpriced":
      clearRejection(context, outgoing);
      // The node knows it and requires a higher fee, which only a new attempt can offer.
      await markSubmitted(world.db, { chainTx: attempt.chain_tx, at: world.clock.now() });
      return warnNotAccepted(world, context, { attempt, outcome });
    case "no_funds":
    case "untakeable":
    case "unknown":
      warnNotAccepted(world, context, { attempt, outcome });
      return cancelRejected(world, context, { open: outgoing, attempt, outcome });
  }
}

function warnNotAccepted(
  world: SenderWorld,
  context: SenderContext,
  { attempt, outcome }: { attempt: OutgoingAttempt; outcome: SubmitOutcome },
): void {
  const facts = { chain: context.caip2, chainTx: attempt.chain_tx, outcome };
  warnRepeated(world, {
    key: `broadcast ${context.caip2} ${outcome.kind}`,
    fields: facts,
    message: "broadcast was not accepted; it is repeated later",
  });
}

/** A transaction that waits behind another nonce is not stuck, whatever its fee. */
function isStuck(world: SenderWorld, { attempts, isNext }: OpenOutgoing): boolean {
  const [newest] = attempts;
  if (!isNext || !newest?.submitted_at || attempts.length >= ATTEMPTS_MAX) return false;
  return hasElapsed(FEE_BUMP_AFTER_MS, { since: newest.created_at, now: world.clock.now() });
}

/**
 * Undefined when no higher fee is within the ceiling. The old bytes are then broadcast again, because the price may
 * fall.
 */
async function quoteFeeBump(
  world: SenderWorld,
  context: SenderContext,
  { attempts }: OpenOutgoing,
): Promise<FeeLimits | undefined> {
  const [newest] = attempts;
  const quote = newest && (await requestFees(world, context));
  if (newest === undefined || quote === undefined) return undefined;
  const { max_fee_per_gas: maxFeePerGas, max_priority_fee_per_gas: maxPriorityFeePerGas } = newest;
  return bumpFees({ maxFeePerGas, maxPriorityFeePerGas }, quote, context.feeCeiling.maxFeePerGas);
}

async function signFeeBump(
  world: SenderWorld,
  context: SenderContext,
  { transaction, attempts, fees }: OpenOutgoing & { fees: FeeLimits },
): Promise<OutgoingAttempt | undefined> {
  const [newest] = attempts;
  if (newest === undefined) return undefined;
  const { nonce, recipient: to, data, gas_limit: gasLimit } = transaction;
  const signed = await context.gasAccount.sign({
    chainId: Number(referenceOf(context.caip2)),
    nonce,
    to,
    data,
    gasLimit,
    ...fees,
  });
  const at = world.clock.now();
  const next = { outgoingId: transaction.id, attempt: newest.attempt + 1, fees, signed, at };
  // Another process was faster. An attempt is broadcast only when it is stored, so that its hash is known.
  if (!(await world.db.transaction((tx) => insertAttempt(tx, next)))) return undefined;
  return {
    ...newest,
    attempt: next.attempt,
    chain_tx: signed.chainTx,
    raw: signed.raw,
    created_at: at,
    submitted_at: null,
  };
}
