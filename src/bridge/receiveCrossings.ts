import type { Chain } from "../chain/chain.ts";
import { SettleRefused, type BridgeSender, type MintItem, type MintOutlook } from "../chain/sender.ts";
import { isDatabaseAway } from "../db/errors.ts";
import { toSettleItem } from "../intent/pins/ownInbox.ts";
import { FatalError } from "../kernel/assert.ts";
import { warnRepeated } from "../kernel/alarm/repeatedWarning.ts";
import { addMs } from "../kernel/clock.ts";
import type { World } from "../world.ts";
import { BELOW_MINIMUM, isSmallBurn, mayReceiveSmall, takeSmallTurn } from "./smallBurns.ts";
import {
  CROSSING_WAIT_MS_MAX,
  claimAttested,
  discardProof,
  lockAttested,
  postponeAttested,
  PROOF_REFUSED,
  writeOutgoing,
  type Crossing,
  type CrossingOfIntent,
} from "./store.ts";

export type ReceiveWorld = Pick<World, "db" | "clock" | "log" | "memory">;

/** Crossings received per call. */
const RECEIVED_MAX = 50;
const CLAIM_MS = 60_000;
/** Until the transaction that receives is looked at again: landing does not wait for it. */
const SENT_WAIT_MS = 30_000;
const WAIT_MS_MIN = 2_000;
/** Until a refused proof is asked for again, at most: a thousand of them leave most of the budget of calls. */
const REFUSED_WAIT_MS_MAX = 600_000;
/** What somebody received is recorded long before the attempts are this many. */
const RECEIVED_ATTEMPTS_MAX = 8;

/**
 * Signs transactions on the settle chain that receive proven burns and settle with them. Who receives does not matter: what a stranger
 * received is only settled. Returns the number of transactions signed.
 */
export async function receiveCrossings(world: ReceiveWorld, chain: Chain, signal?: AbortSignal): Promise<number> {
  const { bridge } = chain.sender;
  if (bridge === undefined) return 0;
  const at = world.clock.now();
  const claim = { settleChain: chain.caip2, at, claimedUntil: addMs(at, CLAIM_MS), limit: RECEIVED_MAX };
  const attested = await claimAttested(world.db, claim);
  let signed = 0;
  for (const each of attested) {
    if (signal?.aborted === true) break;
    signed += (await receiveOrPostpone(world, bridge, each)) ? 1 : 0;
  }
  return signed;
}

/** A crossing that fails waits, and does not delay the others. */
async function receiveOrPostpone(world: ReceiveWorld, bridge: BridgeSender, each: CrossingOfIntent): Promise<boolean> {
  const { movement_id: movementId } = each.crossing;
  try {
    return await receive(world, bridge, each);
  } catch (error) {
    if (error instanceof FatalError || isDatabaseAway(error)) throw error;
    const reason = error instanceof SettleRefused ? `settle_refused ${error.message}` : "internal_error";
    warnRepeated(world, {
      key: `receive ${movementId} ${reason}`,
      fields: { crossing: movementId, intent: each.intent.id, err: error },
      message: "a bridged deposit was not received; it is retried later",
    });
    await postpone(world, each, { reason, isExpired: false });
    return false;
  }
}

async function receive(world: ReceiveWorld, bridge: BridgeSender, each: CrossingOfIntent): Promise<boolean> {
  const isSmall = await isSmallBurn(world, each);
  const { settle_chain: settleChain } = each.crossing;
  if (isSmall && !(await mayReceiveSmall(world.db, settleChain, world.clock.now()))) {
    await postpone(world, each, { reason: BELOW_MINIMUM, isExpired: false });
    return false;
  }
  const item = toMintItem(each);
  const outlook = await bridge.mintOutlook(item);
  const refusal = findRefusal(outlook, each.crossing);
  if (refusal !== undefined) {
    await discard(world, each, refusal);
    return false;
  }
  if (outlook.kind !== "moves") {
    await postpone(world, each, toWait(outlook));
    return false;
  }
  const prepared = await bridge.prepareMint(world, item);
  if (prepared === undefined) {
    await postpone(world, each, { reason: "fees_above_ceiling", isExpired: false });
    return false;
  }
  const at = world.clock.now();
  if (isSmall && !(await takeSmallTurn(world.db, settleChain, at))) {
    await postpone(world, each, { reason: BELOW_MINIMUM, isExpired: false });
    return false;
  }
  return world.db.transaction(async (tx) => {
    if (!(await lockAttested(tx, each.crossing))) return false;
    const outgoingId = await prepared.store(tx, at);
    const { movement_id: movementId } = each.crossing;
    await writeOutgoing(tx, { movementId, outgoingId, retryAt: addMs(at, SENT_WAIT_MS), at });
    return true;
  });
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
  // The number was used for something else: nothing arrives for this burn. The next proof has as long to land as the first.
  if (outlook.kind !== "received" || attempts < RECEIVED_ATTEMPTS_MAX) return undefined;
  return { reason: `${PROOF_REFUSED} nothing_arrived`, attempts: 0, waitMs: WAIT_MS_MIN };
}

/** Forgets a proof that does not prove the burn. It is asked for again, ever less often, and a sound one lands whenever it comes. */
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
  return Math.min(WAIT_MS_MIN * 2 ** Math.min(attempts, 20), waitMsMax);
}

async function postpone(world: ReceiveWorld, { crossing }: CrossingOfIntent, wait: Wait): Promise<void> {
  const at = world.clock.now();
  const waitMs = wait.isExpired ? 0 : waitMsAfter(crossing.attempts, CROSSING_WAIT_MS_MAX);
  const movementId = crossing.movement_id;
  await postponeAttested(world.db, { movementId, ...wait, retryAt: addMs(at, waitMs), at });
}
