import { findWatchedChain } from "../catalog/catalog.ts";
import { BridgeUnavailable, type BridgeService, type BurnQuery, type BurnTracking } from "../chain/bridge.ts";
import { warnRepeated } from "../kernel/alarm/repeatedWarning.ts";
import { addMs } from "../kernel/clock.ts";
import type { World } from "../world.ts";
import { askService } from "./askService.ts";
import { CALLS_MAX, leaseCalls } from "./callBudget.ts";
import { findDomains } from "./fees.ts";
import { claimBurns, countDueBurns, postponeBurn, storeProof, type Crossing, type CrossingOfIntent } from "./store.ts";

export type TrackWorld = Pick<World, "db" | "clock" | "log" | "catalog" | "memory">;

/** No other process asks about a burn while this one does. */
const CLAIM_MS = 60_000;
/** A burn is asked about at intervals of a part of its age, between these bounds. */
const AGE_PARTS = 60;
const INTERVAL_MS_MIN = 1_000;
const INTERVAL_MS_MAX = 60_000;
/** Around the time when a proof is expected: half a block of most chains. */
const INTERVAL_MS_EXPECTED = 1_000;
/** A service that has not renewed a proof after this time is asked again. */
const RENEW_AGAIN_MS = 600_000;

const EXPIRED = "proof_expired";
const RENEWED = "proof_asked_for_anew";

/**
 * Asks the bridge's service about burns that are due, within the budget of all processes. A burn whose transaction is known needs nothing
 * else: it may be asked about for ever. Returns the number of burns asked about.
 */
export async function trackCrossings(world: TrackWorld, service: BridgeService): Promise<number> {
  const at = world.clock.now();
  const calls = await countDueBurns(world.db, { at, limit: CALLS_MAX.messages });
  if (calls === 0 || !(await leaseCalls(world.db, { kind: "messages", calls, at }))) return 0;
  const burns = await claimBurns(world.db, { at, claimedUntil: addMs(at, CLAIM_MS), limit: calls });
  await Promise.all(burns.map((burn) => trackBurn(world, service, burn)));
  return burns.length;
}

async function trackBurn(world: TrackWorld, service: BridgeService, each: CrossingOfIntent): Promise<void> {
  const burn = each.crossing;
  try {
    if (burn.reason === EXPIRED) await renewProof(world, service, burn);
    else {
      const query = toQuery(world, each);
      await applyTracking(world, burn, await askService(world, "messages", () => service.track(query)));
    }
  } catch (error) {
    if (!(error instanceof BridgeUnavailable)) throw error;
    warnRepeated(world, {
      key: `bridge service ${error.message}`,
      fields: { crossing: burn.movement_id, intent: burn.intent_id, err: error },
      message: "the bridge's service does not answer; its crossings wait",
    });
    // What it said before stays.
    await postpone(world, burn, burn.reason);
  }
}

function toQuery({ catalog }: TrackWorld, { crossing, intent }: CrossingOfIntent): BurnQuery {
  const { chain, settle_chain: settleChain, chain_tx: chainTx, token, units } = crossing;
  const domains = findDomains(catalog, { chain, settleChain });
  if (domains === undefined)
    throw new BridgeUnavailable(`the configuration lacks the bridge of ${chain} or ${settleChain}`);
  return { ...domains, chainTx, inbox: intent.inbox_address, token, units };
}

async function renewProof(world: TrackWorld, service: BridgeService, burn: Crossing): Promise<void> {
  await askService(world, "messages", () => service.renew(burn.mint ?? ""));
  const at = world.clock.now();
  await postponeBurn(world.db, {
    movementId: burn.movement_id,
    reason: RENEWED,
    retryAt: addMs(at, INTERVAL_MS_MIN),
    at,
  });
}

async function applyTracking(world: TrackWorld, burn: Crossing, tracking: BurnTracking): Promise<void> {
  const at = world.clock.now();
  if (tracking.kind === "proven") {
    for (const proof of tracking.proofs) {
      if (isKnownToExpire(burn, proof)) continue;
      if (await storeProof(world.db, { movementId: burn.movement_id, proof, at })) return;
    }
  }
  const isRenewing = burn.reason === RENEWED;
  const isLate = isRenewing && addMs(burn.updated_at, RENEW_AGAIN_MS) <= at;
  const reason = isLate ? EXPIRED : isRenewing ? RENEWED : reasonOf(tracking);
  await postpone(world, burn, reason);
}

/** Whether the proof is the one that the settle chain refuses by now. */
function isKnownToExpire(burn: Crossing, proof: { mint: string; expiresAtBlock: bigint | undefined }): boolean {
  if (burn.mint !== proof.mint || burn.expires_at_block === null) return false;
  return proof.expiresAtBlock !== undefined && proof.expiresAtBlock <= burn.expires_at_block;
}

function reasonOf(tracking: BurnTracking): string | null {
  if (tracking.kind === "pending") return tracking.reason ?? null;
  return tracking.kind === "unseen" ? "not_seen_by_bridge" : "proof_of_another_burn";
}

async function postpone(world: TrackWorld, burn: Crossing, reason: string | null): Promise<void> {
  const at = world.clock.now();
  const retryAt = addMs(at, waitMsOf(world, burn, at));
  await postponeBurn(world.db, { movementId: burn.movement_id, reason, retryAt, at });
}

/** Rarer with age, and often around the time when the burn's block becomes final, because its proof comes then. */
function waitMsOf({ catalog }: TrackWorld, burn: Crossing, at: Date): number {
  const ageMs = Math.max(0, at.getTime() - burn.created_at.getTime());
  const { finalizedMs = 0 } = findWatchedChain(catalog, burn.chain)?.estimates ?? {};
  const isExpected = ageMs > finalizedMs / 2 && ageMs < finalizedMs * 2;
  const waitMs = isExpected ? INTERVAL_MS_EXPECTED : Math.max(ageMs / AGE_PARTS, INTERVAL_MS_MIN);
  return Math.round(Math.min(waitMs, INTERVAL_MS_MAX));
}
