import { addMs } from "../kernel/clock.ts";
import type { Chain } from "./chain.ts";
import type { SubmitOutcome } from "./driver.ts";
import { quoteCall, storeSignedAt } from "./send.ts";
import {
  closeSending,
  loseSending,
  loseSendingsFrom,
  raiseNextNonce,
  reopenSendings,
  type SendingAttempt,
} from "./sendingStore.ts";
import { findReceipt, type Open, type Tending, type TendWorld } from "./tending.ts";

// Nonces that can be used no more, and those that nothing of ours will ever use. What was to be sent with one that is given up is planned
// anew by whoever asked for it; should its bytes be mined after all, a second sweep moves nothing.

/** Nonces that came back and are used up in one call. */
const GAP_MAX = 50n;
/** Nonces used up with nothing in one call. A reorg gives back few that are not ours; more were never used, and each one costs gas. */
const NOTHINGS_MAX = 10;
/** How often, and for how long, bytes are offered that nobody takes: a full pool, a lagging node or a bad hour of a provider may pass. */
const OFFERS_MAX = 10;
const UNTAKEN_MS = 5 * 60_000;
/** Who must say that a nonce is gone, where there are so many: one alone could have every later one wait behind it for ever. */
const WITNESSES_MIN = 2;

/**
 * Nonces that the chain waits for and that nothing is being sent for: a reorg has taken back what had used them. No later one would
 * ever be mined, so our own bytes are sent again, and where there are none, a call of nothing.
 */
export async function closeGap(
  world: TendWorld,
  tending: Tending,
  gap: { sender: string; from: bigint; below: bigint },
): Promise<void> {
  const { chain } = tending;
  const below = gap.below - gap.from > GAP_MAX ? gap.from + GAP_MAX : gap.below;
  if (gap.from >= below) return;
  const facts = { ...gap, chain: chain.caip2, from: String(gap.from), below: String(below) };
  world.log.error(facts, "nonces came back");
  const reopened = new Set(
    await reopenSendings(world.db, { chain: chain.caip2, sender: gap.sender, from: gap.from, below }),
  );
  if (gap.sender !== chain.gasAccount.address) return;
  const missing: bigint[] = [];
  for (let nonce = gap.from; nonce < below; nonce += 1n) if (!reopened.has(nonce)) missing.push(nonce);
  if (missing.length > NOTHINGS_MAX) {
    const alarm = { ...facts, alarm: "nonce_gap", missing: missing.length };
    world.log.error(
      alarm,
      "too many nonces are missing to pay for them all; nothing later is mined before they are used",
    );
    return;
  }
  for (const nonce of missing) {
    const nothing = await prepareNothing(world, tending);
    await world.db.transaction((tx) => storeSignedAt(tx, chain, { ...nothing, nonce }));
  }
}

async function prepareNothing(world: TendWorld, tending: Tending) {
  const call = { to: tending.chain.gasAccount.address, data: "0x" };
  return { call, quote: await quoteCall(world, { ...tending, call }), at: world.clock.now() };
}

/**
 * The account's nonce has passed this one and no receipt is ours: somebody else has used the key. All that answer must say so, because what
 * one says alone would raise the next nonce beyond what the chain will ever come to.
 */
export async function giveUpNonce(
  world: TendWorld,
  { chain }: Tending,
  { sending, attempts }: Pick<Open, "sending" | "attempts">,
): Promise<void> {
  const said = await chain.providers.askEach(async (driver) => ({
    // The nonce first: whoever counts our transaction in it has its receipt as well.
    nonce: await driver.nonce(sending.sender),
    receipt: await findReceipt(driver, attempts),
  }));
  const heard = said.flatMap((each) => ("answer" in each ? [each.answer] : []));
  if (heard.length < Math.min(chain.providers.size, WITNESSES_MIN)) return;
  if (heard.some(({ nonce, receipt }) => receipt !== undefined || nonce <= sending.nonce)) return;
  world.log.error(
    { chain: chain.caip2, sender: sending.sender, nonce: sending.nonce.toString() },
    "a nonce was used by an unknown transaction",
  );
  const nextNonce = heard.map(({ nonce }) => nonce).reduce((least, nonce) => (nonce < least ? nonce : least));
  await closeSending(world.db, { id: sending.id, status: "lost", at: world.clock.now() });
  await raiseNextNonce(world.db, { chain: chain.caip2, address: sending.sender, nextNonce });
}

type Untaken = { chainTx: string; offers: number; since: Date };

/** Of each sender the bytes that its chain waits for and nobody takes. Whoever starts anew offers them as often again. */
const untakenOf = new WeakMap<Chain, Map<string, Untaken>>();

export function forgetUntaken({ chain }: Tending, { sending, isNext }: Open): void {
  if (isNext) untakenOf.get(chain)?.delete(sending.sender);
}

/**
 * A node has looked at the bytes and not taken them. While they hold the nonce that the chain waits for nothing else is mined, so once that
 * has gone on for long the nonce is filled with nothing. Of an account that was replaced all that is left is closed: nobody can sign for it.
 */
export async function giveUpUntaken(
  world: TendWorld,
  tending: Tending,
  untaken: { open: Open; attempt: SendingAttempt; outcome: SubmitOutcome },
): Promise<void> {
  const { chain } = tending;
  const { open, attempt, outcome } = untaken;
  const { id, sender, nonce } = open.sending;
  const isOurs = sender === chain.gasAccount.address;
  if (!open.isNext || !isRefusal(outcome, isOurs) || !isLongUntaken(world, chain, { sender, attempt })) return;
  const facts = { alarm: "sending_given_up", chain: chain.caip2, sender, nonce: String(nonce), outcome };
  if (!isOurs) {
    world.log.error(facts, "no node takes what a replaced gas account has signed; all that is left of it is given up");
    return loseSendingsFrom(world.db, { chain: chain.caip2, sender, from: nonce, at: world.clock.now() });
  }
  world.log.error(facts, "no node takes a transaction; its nonce is used for nothing");
  const nothing = await prepareNothing(world, tending);
  await world.db.transaction(async (tx) => {
    // Somebody else was quicker, and has filled the nonce.
    if (!(await loseSending(tx, { id, at: nothing.at }))) return;
    await storeSignedAt(tx, chain, { ...nothing, nonce });
  });
}

/** Gas can still come to the account that we have; to one that was replaced it hardly will. */
function isRefusal(outcome: SubmitOutcome, isOurs: boolean): boolean {
  if (outcome.kind === "no_funds") return !isOurs;
  return outcome.kind === "untakeable" || (outcome.kind === "unknown" && outcome.isAnswered === true);
}

/** Counts this offer. */
function isLongUntaken(
  world: TendWorld,
  chain: Chain,
  { sender, attempt }: { sender: string; attempt: SendingAttempt },
): boolean {
  const bySender = untakenOf.get(chain) ?? new Map<string, Untaken>();
  untakenOf.set(chain, bySender);
  const now = world.clock.now();
  const known = bySender.get(sender);
  const before = known?.chainTx === attempt.chain_tx ? known : { chainTx: attempt.chain_tx, offers: 0, since: now };
  const offers = before.offers + 1;
  bySender.set(sender, { ...before, offers });
  return offers >= OFFERS_MAX && addMs(before.since, UNTAKEN_MS) <= now;
}
