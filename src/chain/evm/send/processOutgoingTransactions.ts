import { referenceOf } from "../../../kernel/caip.ts";
import { addMs } from "../../../kernel/clock.ts";
import { ProviderFailed, type ChainReader } from "../../reader.ts";
import type { FeeQuote, SubmitOutcome } from "../node.ts";
import { fillNonceGap, clearRejection, abandonUsedNonce, cancelRejected } from "./nonceRecovery.ts";
import {
  closeOutgoing,
  insertAttempt,
  listOpenSenders,
  listOpenOutgoing,
  markSubmitted,
  type OutgoingAttempt,
} from "./outgoingStore.ts";
import { findReceipt, type OpenOutgoing, type SenderContext } from "./senderContext.ts";
import type { SenderWorld } from "../../sender.ts";

/** Sendings of an account broadcast in one call, and as many closed; lowest nonces first: a later one cannot be mined before them. */
const OUTGOING_MAX = 50;
/** Gas accounts with open transactions: the present one, and those that were replaced. */
const SENDERS_MAX = 10;
/** A block this deep is final on a chain that never says what is. */
const FINAL_DEPTH_WITHOUT_TAG = 1_024n;
/** How long an attempt may wait for a block before a better paid one is signed for the same nonce. */
const FEE_BUMP_AFTER_MS = 60_000;
/** Attempts for one nonce. With 13 % each the last offers about thirty times the first. */
const ATTEMPTS_MAX = 30;
/** Nodes accept a replacement from 10 % on; some ask for 12.5 %. */
const FEE_BUMP_PERCENT = 113n;

/**
 * Looks after every signed transaction of a chain: broadcasts its bytes until a block has them, pays more when none wants them,
 * and closes it when its block is final. No answer is ever taken for a failure: the bytes stay valid, and are sent again, until nobody has
 * taken them for long and their nonce is used for something else.
 */
export async function processOutgoingTransactions(world: SenderWorld, context: SenderContext): Promise<void> {
  const senders = await listOpenSenders(world.db, { chain: context.caip2, limit: SENDERS_MAX });
  for (const sender of senders) await processSender(world, context, sender);
}

/** Those that wait to become final are many where finality takes minutes, and must not keep new ones from being broadcast. */
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

/** Their nonces are used up: closes those whose block is final. */
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
    // Until its block is final a reorg may still drop the transaction, and then the same bytes are broadcast again.
    if (receipt.blockNumber > finalNumber) return;
    const status = receipt.succeeded ? "mined" : "reverted";
    const { chainTx, blockNumber } = receipt;
    await closeOutgoing(world.db, { id: open.transaction.id, status, chainTx, blockNumber, at: world.clock.now() });
  }
}

/** The last block that no reorg will drop. Many chains, and providers, do not know the tag. */
async function fetchFinalizedNumber(reader: ChainReader): Promise<bigint> {
  try {
    return (await reader.head("finalized")).number;
  } catch (error) {
    if (!(error instanceof ProviderFailed)) throw error;
    return (await reader.head("latest")).number - FINAL_DEPTH_WITHOUT_TAG;
  }
}

async function broadcast(world: SenderWorld, context: SenderContext, outgoing: OpenOutgoing): Promise<void> {
  // Bytes of an account that was replaced can still be sent, but no others can be signed for its nonces.
  const isOurs = outgoing.transaction.sender === context.gasAccount.address;
  const attempt =
    isOurs && isStuck(world, outgoing) ? await signFeeBump(world, context, outgoing) : outgoing.attempts[0];
  if (attempt === undefined) return;
  // Whoever took it, or the worse paid one before it, may have dropped it, or passed it on to nobody.
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
      // A node has seen it and wants more, which only a better paid attempt can give.
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
  world.log.warn(facts, "broadcast not taken yet; it will be repeated");
}

/** One that waits behind another is not stuck, whatever it pays. */
function isStuck(world: SenderWorld, { attempts, isNext }: OpenOutgoing): boolean {
  const [newest] = attempts;
  if (!isNext || !newest?.submitted_at || attempts.length >= ATTEMPTS_MAX) return false;
  return addMs(newest.created_at, FEE_BUMP_AFTER_MS) <= world.clock.now();
}

async function signFeeBump(
  world: SenderWorld,
  context: SenderContext,
  { transaction, attempts }: OpenOutgoing,
): Promise<OutgoingAttempt | undefined> {
  const [newest] = attempts;
  if (newest === undefined) return undefined;
  const fees = bumpFees(newest, await context.providers.fees());
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
  // Somebody else was quicker: what is not stored is not sent, because nobody would know it on the chain.
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

function bumpFees(attempt: OutgoingAttempt, quote: FeeQuote): FeeQuote {
  const raise = (paid: bigint, asked: bigint) => {
    const raised = (paid * FEE_BUMP_PERCENT) / 100n + 1n;
    return raised > asked ? raised : asked;
  };
  return {
    maxFeePerGas: raise(attempt.max_fee_per_gas, quote.maxFeePerGas),
    maxPriorityFeePerGas: raise(attempt.max_priority_fee_per_gas, quote.maxPriorityFeePerGas),
  };
}
