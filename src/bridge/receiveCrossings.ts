import type { Chain } from "../chain/chain.ts";
import { SettleRefused, type BridgeSender, type MintItem, type MintOutlook } from "../chain/sender.ts";
import type { Tx } from "../db/database.ts";
import { payoutChain } from "../intent/payoutAsset.ts";
import { toSettleItem } from "../intent/pins/ownInbox.ts";
import type { IntentRow } from "../intent/store.ts";
import { stopsAllWork } from "../kernel/errors/classifyError.ts";
import { warnRepeated } from "../kernel/alarm/repeatedWarning.ts";
import type { Caip2 } from "../kernel/caip.ts";
import { addMs, backoffMs } from "../kernel/clock.ts";
import { insertOpening } from "../priming/store.ts";
import { HINT_TTL_MS } from "../view/registerView.ts";
import { upsertViewHints } from "../view/store.ts";
import type { World } from "../world.ts";
import { isTurnFree, isWorthLess, noteMintFee, takeTurn, WORTH_LESS } from "./smallBurns.ts";
import {
  CROSSING_WAIT_MS_MAX,
  claimAttested,
  discardProof,
  listDearest,
  lockAttested,
  moveToQueue,
  postponeAttested,
  PROOF_REFUSED,
  QUEUE,
  writeOutgoing,
  type Crossing,
  type CrossingOfIntent,
} from "./store.ts";

export type ReceiveWorld = Pick<World, "db" | "clock" | "log" | "memory" | "catalog" | "config">;

/** Crossings received per call. */
const RECEIVED_MAX = 50;
const CLAIM_MS = 60_000;
/** An account that was opened for a crossing is looked at after this time. */
const OPENED_MS = 600_000;
const WAIT_MS_MIN = 2_000;
/** Until a refused proof is asked for again, at most: a thousand of them leave most of the budget of calls. */
const REFUSED_WAIT_MS_MAX = 600_000;
/** What somebody received is recorded long before the attempts are this many. */
const RECEIVED_ATTEMPTS_MAX = 8;
/** Until a crossing of the second queue is compared with the cost of a mint, and with its price, again. */
const COMPARE_AGAIN_MS = 300_000;
/** Crossings of a queue that a turn reads, and those among them whose mints it simulates. */
const TURN_READ_MAX = 500;
const TURN_TRIED_MAX = 200;
/** A crossing that has failed so often comes after the others of its queue. */
const TURN_ATTEMPTS = 8;

/** A settle chain with its bridge. `signal`: once it aborts, nothing more is signed. */
type Target = { settleChain: Caip2; bridge: BridgeSender; signal: AbortSignal | undefined };

/**
 * Signs transactions on the settle chain that receive proven burns and settle with them. Who receives does not matter:
 * what a stranger received is only settled. Returns the number of transactions signed.
 */
export async function receiveCrossings(world: ReceiveWorld, chain: Chain, signal?: AbortSignal): Promise<number> {
  const { bridge } = chain.sender;
  if (bridge === undefined) return 0;
  const target = { settleChain: chain.caip2, bridge, signal };
  let signed = 0;
  for (const each of await claim(world, target, QUEUE.inTime)) {
    if (signal?.aborted === true) break;
    const received = await receiveOrPostpone(world, target, { each, mayWait: true });
    signed += received === undefined ? 0 : 1;
  }
  for (const each of await claim(world, target, QUEUE.hourly)) await compareAgain(world, each);
  return signed + (await takeHourlyTurn(world, target));
}

function claim(world: ReceiveWorld, { settleChain, bridge }: Target, queue: number): Promise<CrossingOfIntent[]> {
  const at = world.clock.now();
  const times = { at, claimedUntil: addMs(at, CLAIM_MS), sentUntil: addMs(at, bridge.lookMs) };
  return claimAttested(world.db, { settleChain, queue, ...times, limit: RECEIVED_MAX });
}

/** Moves a crossing of the second queue to the first when it belongs there by now. */
async function compareAgain(world: ReceiveWorld, each: CrossingOfIntent): Promise<void> {
  const { movement_id: movementId } = each.crossing;
  const isStill = await isWorthLess(world, each);
  const at = world.clock.now();
  const change = isStill
    ? { queue: QUEUE.hourly, reason: WORTH_LESS, retryAt: addMs(at, COMPARE_AGAIN_MS) }
    : { queue: QUEUE.inTime, reason: null, retryAt: at };
  await moveToQueue(world.db, { movementId, ...change, at });
}

/**
 * Once an hour: as many crossings of the second queue as fit one transaction, dearest first, and then one of the third
 * if there is room.
 */
async function takeHourlyTurn(world: ReceiveWorld, target: Target): Promise<number> {
  const { settleChain, bridge, signal } = target;
  if (!(await isTurnFree(world.db, settleChain, world.clock.now()))) return 0;
  const turn: Turn = { hasTurn: undefined, workLeft: bridge.workMax };
  let signed = 0;
  for (const [queue, countMax] of [
    [QUEUE.hourly, TURN_TRIED_MAX],
    [QUEUE.small, 1],
  ] as const) {
    let received = 0;
    for (const each of await listTurn(world, settleChain, queue)) {
      if (signal?.aborted === true || turn.hasTurn === false || turn.workLeft === 0n || received === countMax) break;
      const work = await receiveOrPostpone(world, target, { each, mayWait: false, turn });
      received += work === undefined ? 0 : 1;
    }
    signed += received;
  }
  return signed;
}

/**
 * `hasTurn`: undefined until a transaction is ready to be signed. `workLeft`: what further transactions of it may do; 0
 * once one did not fit.
 */
type Turn = { hasTurn: boolean | undefined; workLeft: bigint };

async function listTurn(world: ReceiveWorld, settleChain: Caip2, queue: number): Promise<CrossingOfIntent[]> {
  const dearest = await listDearest(world.db, { settleChain, queue, limit: TURN_READ_MAX });
  const isUnlucky = ({ crossing }: CrossingOfIntent) => (crossing.attempts < TURN_ATTEMPTS ? 0 : 1);
  return dearest.toSorted((one, other) => isUnlucky(one) - isUnlucky(other)).slice(0, TURN_TRIED_MAX);
}

/** `mayWait`: whether it is moved to the second queue when it is worth less than its mint costs. */
type Reception = { each: CrossingOfIntent; mayWait: boolean; turn?: Turn };

/**
 * A crossing that fails waits, and does not delay the others. Returns the work of the transaction; undefined when none
 * was signed.
 */
async function receiveOrPostpone(
  world: ReceiveWorld,
  target: Target,
  reception: Reception,
): Promise<bigint | undefined> {
  const { each } = reception;
  const { movement_id: movementId } = each.crossing;
  try {
    return await receive(world, target, reception);
  } catch (error) {
    if (stopsAllWork(error)) throw error;
    const reason = error instanceof SettleRefused ? `settle_refused ${error.message}` : "internal_error";
    warnRepeated(world, {
      key: `receive ${movementId} ${reason}`,
      fields: { crossing: movementId, intent: each.intent.id, err: error },
      message: "a bridged deposit was not received; it is retried later",
    });
    await postpone(world, each, { reason, isExpired: false });
    return undefined;
  }
}

async function receive(
  world: ReceiveWorld,
  { bridge, settleChain }: Target,
  { each, mayWait, turn }: Reception,
): Promise<bigint | undefined> {
  const item = toMintItem(each);
  const outlook = await bridge.mintOutlook(item);
  const refusal = findRefusal(outlook, each.crossing);
  if (refusal !== undefined) {
    await discard(world, each, refusal);
    return undefined;
  }
  if (outlook.kind !== "moves") {
    await postpone(world, each, toWait(outlook));
    return undefined;
  }
  const prepared = await bridge.prepareMint(world, item);
  if (prepared === undefined) {
    await postpone(world, each, { reason: "fees_above_ceiling", isExpired: false });
    return undefined;
  }
  noteMintFee(world, settleChain, prepared.fee);
  const at = world.clock.now();
  const { movement_id: movementId } = each.crossing;
  if (mayWait && (await isWorthLess(world, each))) {
    const retryAt = addMs(at, COMPARE_AGAIN_MS);
    await moveToQueue(world.db, { movementId, queue: QUEUE.hourly, reason: WORTH_LESS, retryAt, at });
    return undefined;
  }
  if (turn !== undefined && !(await hasRoom(world, { settleChain, turn, work: prepared.work }))) return undefined;
  const isStored = await world.db.transaction(async (tx) => {
    if (!(await lockAttested(tx, each.crossing))) return false;
    const outgoingId = await prepared.store(tx, at);
    await writeOutgoing(tx, { movementId, outgoingId, retryAt: addMs(at, bridge.lookMs), at });
    if (prepared.isOpening === true) await noteOpening(tx, each, { outgoingId, at });
    return true;
  });
  if (!isStored) return undefined;
  await hintInbox(world, each.intent, at);
  return prepared.work;
}

/** An account that a stranger settles stays open: it is closed later as one that a payer did not use. */
async function noteOpening(
  tx: Tx,
  { intent }: CrossingOfIntent,
  { outgoingId, at }: { outgoingId: bigint; at: Date },
): Promise<void> {
  const { id: intentId, account_id: accountId, payout_token: token } = intent;
  const key = { chain: payoutChain(intent), intentId, accountId, token };
  await insertOpening(tx, { ...key, outgoingId, keepUntil: addMs(at, OPENED_MS), at });
}

/** Where a chain is read by accounts, what arrives is found sooner in inboxes that are in view. */
async function hintInbox({ db }: ReceiveWorld, intent: IntentRow, at: Date): Promise<void> {
  const { id: intentId, payout_namespace: namespace, payout_chain_reference: reference, payout_token: token } = intent;
  if (namespace === "eip155") return;
  await upsertViewHints(db, [{ intentId, namespace, reference, token, expiresAt: addMs(at, HINT_TTL_MS) }]);
}

/** Whether a transaction of this work fits what is left of the turn, which the first one takes. */
async function hasRoom(
  world: ReceiveWorld,
  { settleChain, turn, work }: { settleChain: Caip2; turn: Turn; work: bigint },
): Promise<boolean> {
  if (work > turn.workLeft) {
    turn.workLeft = 0n;
    return false;
  }
  turn.hasTurn ??= await takeTurn(world.db, settleChain, world.clock.now());
  if (turn.hasTurn) turn.workLeft -= work;
  return turn.hasTurn;
}

function toMintItem({ crossing, intent }: CrossingOfIntent): MintItem {
  return {
    ...toSettleItem(intent, intent.payout_token),
    message: crossing.message ?? "",
    attestation: crossing.attestation ?? "",
    mint: crossing.mint ?? "",
  };
}

type Wait = { reason: string | null; isExpired: boolean };

function toWait(outlook: MintOutlook): Wait {
  if (outlook.kind === "expired") return { reason: "proof_expired", isExpired: true };
  // Received by somebody, and swept: landing needs only the recorded movements.
  return { reason: outlook.kind === "refused" ? outlook.reason : null, isExpired: false };
}

type Refusal = { reason: string; attempts: number; waitMs: number };

/** Set when the proof is not what the bridge's attesters signed for this burn. */
function findRefusal(outlook: MintOutlook, { attempts }: Crossing): Refusal | undefined {
  if (outlook.kind === "unproven") {
    const waitMs = waitMsAfter(attempts, REFUSED_WAIT_MS_MAX);
    return { reason: `${PROOF_REFUSED} ${outlook.reason}`, attempts: attempts + 1, waitMs };
  }
  // The number was used for something else: nothing arrives for this burn. The next proof has as long to land as the
  // first.
  if (outlook.kind !== "received" || attempts < RECEIVED_ATTEMPTS_MAX) return undefined;
  return { reason: `${PROOF_REFUSED} nothing_arrived`, attempts: 0, waitMs: WAIT_MS_MIN };
}

/**
 * Forgets a proof that does not prove the burn. It is asked for again, ever less often, and a sound one lands whenever
 * it comes.
 */
async function discard(world: ReceiveWorld, { crossing, intent }: CrossingOfIntent, refusal: Refusal): Promise<void> {
  const { movement_id: movementId } = crossing;
  const { reason, attempts, waitMs } = refusal;
  warnRepeated(world, {
    key: `proof ${movementId} ${reason}`,
    fields: { crossing: movementId, intent: intent.id, reason },
    message: "the settle chain refuses the proof of a burn; the bridge's service is asked for it again",
  });
  const at = world.clock.now();
  await discardProof(world.db, { movementId, reason, attempts, retryAt: addMs(at, waitMs), at });
}

function waitMsAfter(attempts: number, waitMsMax: number): number {
  return backoffMs(attempts, { firstMs: WAIT_MS_MIN, maxMs: waitMsMax });
}

async function postpone(world: ReceiveWorld, { crossing }: CrossingOfIntent, wait: Wait): Promise<void> {
  const at = world.clock.now();
  const waitMs = wait.isExpired ? 0 : waitMsAfter(crossing.attempts, CROSSING_WAIT_MS_MAX);
  const movementId = crossing.movement_id;
  await postponeAttested(world.db, { movementId, ...wait, retryAt: addMs(at, waitMs), at });
}
