import type { Logger } from "pino";
import type { Db } from "../db/database.ts";
import { referenceOf } from "../kernel/caip.ts";
import { addMs, type Clock } from "../kernel/clock.ts";
import type { Chain } from "./chain.ts";
import { ProviderFailed, type ChainDriver, type ChainReceipt, type FeeQuote, type SubmitOutcome } from "./driver.ts";
import { quoteCall, storeSignedAt } from "./send.ts";
import {
  closeSending,
  insertAttempt,
  listOpenSenders,
  listOpenSendings,
  markSubmitted,
  raiseNextNonce,
  reopenSendings,
  type Sending,
  type SendingAttempt,
} from "./sendingStore.ts";

type TendWorld = { readonly db: Db; readonly clock: Clock; readonly log: Logger };
type Open = { sending: Sending; attempts: SendingAttempt[] };

/** Sendings of an account broadcast in one call, and as many closed; lowest nonces first: a later one cannot be mined before them. */
const SENDINGS_MAX = 50;
/** Gas accounts with open sendings: the present one, and those that were replaced. */
const SENDERS_MAX = 10;
/** Nonces that came back and are used up in one call. */
const GAP_MAX = 50n;
/** A block this deep is final on a chain that never says what is. */
const DEPTH_WITHOUT_TAG = 1_024n;
/** How long an attempt may wait for a block before a better paid one is signed for the same nonce. */
const BUMP_AFTER_MS = 60_000;
/** Attempts for one nonce. With 13 % each the last offers about thirty times the first. */
const ATTEMPTS_MAX = 30;
/** Nodes accept a replacement from 10 % on; some ask for 12.5 %. */
const BUMP_PERCENT = 113n;

/**
 * Looks after every signed transaction of a chain: broadcasts its bytes until a block has them, pays more when none wants them,
 * and closes it when its block is final. No answer is ever taken for a failure: the bytes stay valid, and are sent again.
 */
export async function tendSendings(world: TendWorld, chain: Chain, driver: ChainDriver): Promise<void> {
  const senders = await listOpenSenders(world.db, { chain: chain.caip2, limit: SENDERS_MAX });
  for (const sender of senders) await tendSender(world, { chain, driver }, sender);
}

type Tending = { chain: Chain; driver: ChainDriver };

/** Those that wait to become final are many where finality takes minutes, and must not keep new ones from being broadcast. */
async function tendSender(world: TendWorld, tending: Tending, sender: string): Promise<void> {
  const nextNonce = await tending.driver.nonce(sender);
  const of = { chain: tending.chain.caip2, sender, limit: SENDINGS_MAX };
  const used = await listOpenSendings(world.db, { ...of, nonces: { below: nextNonce } });
  await tendUsed(world, tending, used);
  const [lowest] = await listOpenSendings(world.db, { ...of, nonces: { from: nextNonce }, limit: 1 });
  if (lowest) await closeGap(world, tending, { sender, from: nextNonce, below: lowest.sending.nonce });
  const waiting = await listOpenSendings(world.db, { ...of, nonces: { from: nextNonce } });
  for (const each of waiting) await broadcast(world, tending, each);
}

/**
 * Nonces that the chain waits for and that nothing is being sent for: a reorg has taken back what had used them. No later one would
 * ever be mined, so our own bytes are sent again, and where there are none, a call of nothing.
 */
async function closeGap(
  world: TendWorld,
  tending: Tending,
  gap: { sender: string; from: bigint; below: bigint },
): Promise<void> {
  const { chain } = tending;
  const below = gap.below - gap.from > GAP_MAX ? gap.from + GAP_MAX : gap.below;
  if (gap.from >= below) return;
  world.log.error({ ...gap, chain: chain.caip2, from: String(gap.from), below: String(below) }, "nonces came back");
  const reopened = new Set(
    await reopenSendings(world.db, { chain: chain.caip2, sender: gap.sender, from: gap.from, below }),
  );
  if (gap.sender !== chain.gasAccount.address) return;
  for (let nonce = gap.from; nonce < below; nonce += 1n) {
    if (!reopened.has(nonce)) await storeNothing(world, tending, nonce);
  }
}

async function storeNothing(world: TendWorld, context: Tending, nonce: bigint): Promise<void> {
  const call = { to: context.chain.gasAccount.address, data: "0x" };
  const quote = await quoteCall(world, { ...context, call });
  const at = world.clock.now();
  await world.db.transaction((tx) => storeSignedAt(tx, context.chain, { call, quote, at, nonce }));
}

/** Their nonces are used up: closes those whose block is final. */
async function tendUsed(world: TendWorld, tending: Tending, used: readonly Open[]): Promise<void> {
  if (used.length === 0) return;
  const finalNumber = await findFinal(tending.driver);
  for (const open of used) {
    const receipt = await findReceipt(tending.driver, open.attempts);
    if (receipt === undefined) {
      await broadcast(world, tending, open);
      continue;
    }
    // Until its block is final a reorg may still drop the transaction, and then the same bytes are broadcast again.
    if (receipt.blockNumber > finalNumber) return;
    const status = receipt.succeeded ? "mined" : "reverted";
    const { chainTx, blockNumber } = receipt;
    await closeSending(world.db, { id: open.sending.id, status, chainTx, blockNumber, at: world.clock.now() });
  }
}

/** The last block that no reorg will drop. Many chains, and providers, do not know the tag. */
async function findFinal(driver: ChainDriver): Promise<bigint> {
  try {
    return (await driver.head("finalized")).number;
  } catch (error) {
    if (!(error instanceof ProviderFailed)) throw error;
    return (await driver.head("latest")).number - DEPTH_WITHOUT_TAG;
  }
}

async function findReceipt(
  driver: ChainDriver,
  attempts: readonly SendingAttempt[],
): Promise<ChainReceipt | undefined> {
  for (const attempt of attempts) {
    const receipt = await driver.receipt(attempt.chain_tx);
    if (receipt) return receipt;
  }
  return undefined;
}

async function broadcast(world: TendWorld, tending: Tending, open: Open): Promise<void> {
  // Bytes of an account that was replaced can still be sent, but no others can be signed for its nonces.
  const isOurs = open.sending.sender === tending.chain.gasAccount.address;
  const attempt = isOurs && isStuck(world, open) ? await signBetterPaid(world, tending, open) : open.attempts[0];
  if (attempt === undefined) return;
  const outcome = await tending.driver.submit(attempt.raw);
  switch (outcome.kind) {
    case "accepted":
    case "known":
      return markSubmitted(world.db, { chainTx: attempt.chain_tx, at: world.clock.now() });
    case "nonce_used":
      return giveUpNonce(world, tending, open);
    case "underpriced":
      // A node has seen it and wants more, which only a better paid attempt can give.
      await markSubmitted(world.db, { chainTx: attempt.chain_tx, at: world.clock.now() });
      return warnNotTaken(world, tending, { attempt, outcome });
    case "no_funds":
    case "unknown":
      return warnNotTaken(world, tending, { attempt, outcome });
  }
}

function warnNotTaken(
  world: TendWorld,
  { chain }: Tending,
  { attempt, outcome }: { attempt: SendingAttempt; outcome: SubmitOutcome },
): void {
  const facts = { chain: chain.caip2, chainTx: attempt.chain_tx, outcome };
  world.log.warn(facts, "broadcast not taken yet; it will be repeated");
}

function isStuck(world: TendWorld, { attempts }: Open): boolean {
  const [newest] = attempts;
  if (!newest?.submitted_at || attempts.length >= ATTEMPTS_MAX) return false;
  return addMs(newest.created_at, BUMP_AFTER_MS) <= world.clock.now();
}

async function signBetterPaid(
  world: TendWorld,
  { chain, driver }: Tending,
  { sending, attempts }: Open,
): Promise<SendingAttempt | undefined> {
  const [newest] = attempts;
  if (newest === undefined) return undefined;
  const fees = bumped(newest, await driver.fees());
  const { nonce, recipient: to, data, gas_limit: gasLimit } = sending;
  const signed = await chain.gasAccount.sign({
    chainId: Number(referenceOf(chain.caip2)),
    nonce,
    to,
    data,
    gasLimit,
    ...fees,
  });
  const at = world.clock.now();
  const next = { sendingId: sending.id, attempt: newest.attempt + 1, fees, signed, at };
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

function bumped(attempt: SendingAttempt, quote: FeeQuote): FeeQuote {
  const raise = (paid: bigint, asked: bigint) => {
    const raised = (paid * BUMP_PERCENT) / 100n + 1n;
    return raised > asked ? raised : asked;
  };
  return {
    maxFeePerGas: raise(attempt.max_fee_per_gas, quote.maxFeePerGas),
    maxPriorityFeePerGas: raise(attempt.max_priority_fee_per_gas, quote.maxPriorityFeePerGas),
  };
}

/**
 * The account's nonce has passed this one and no receipt is ours: somebody else has used the key. What was to be sent is
 * planned anew by whoever asked for it; should our bytes have been mined after all, a second sweep moves nothing.
 */
async function giveUpNonce(world: TendWorld, { chain, driver }: Tending, { sending, attempts }: Open): Promise<void> {
  if (await findReceipt(driver, attempts)) return;
  const nextNonce = await driver.nonce(sending.sender);
  if (nextNonce <= sending.nonce) return;
  world.log.error(
    { chain: chain.caip2, sender: sending.sender, nonce: sending.nonce.toString() },
    "a nonce was used by an unknown transaction",
  );
  await closeSending(world.db, { id: sending.id, status: "lost", at: world.clock.now() });
  await raiseNextNonce(world.db, { chain: chain.caip2, address: sending.sender, nextNonce });
}
