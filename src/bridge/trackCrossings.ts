import { findWatchedChain } from "../catalog/catalog.ts";
import { BridgeUnavailable, type BridgeService, type BurnTracking } from "../chain/bridge.ts";
import { warnRepeated } from "../kernel/alarm/repeatedWarning.ts";
import { addMs } from "../kernel/clock.ts";
import { mintAddress } from "../intent/pins/mintAccount.ts";
import type { World } from "../world.ts";
import { askService } from "./askService.ts";
import { CALLS_MAX, leaseCalls } from "./callBudget.ts";
import { findDomains } from "./fees.ts";
import { assignProofs, findSwapped } from "./assignProofs.ts";
import {
  claimBurns,
  listDueTransactions,
  listProofHolders,
  postponeBurns,
  storeProofs,
  type ClaimedBurn,
  type Crossing,
  type CrossingOfIntent,
  type ProofHolder,
} from "./store.ts";

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
 * Asks the bridge's service about burns that are due, within the budget of all processes: one request for all burns of
 * a transaction, because anybody can put a thousand in one. A burn whose transaction is known needs nothing else: it
 * may be asked about without end. Returns the number of burns asked about.
 */
export async function trackCrossings(world: TrackWorld, service: BridgeService): Promise<number> {
  const at = world.clock.now();
  const transactions = await listDueTransactions(world.db, { at, limit: CALLS_MAX.messages });
  const calls = transactions.length;
  if (calls === 0 || !(await leaseCalls(world.db, { kind: "messages", calls, at }))) return 0;
  const burns = await claimBurns(world.db, { transactions, at, claimedUntil: addMs(at, CLAIM_MS) });
  const groups = [...Map.groupBy(burns, groupKey).values()];
  const [asked, later] = [groups.slice(0, calls), groups.slice(calls)];
  // A renewal is a request of its own, so there may be more of them than calls.
  await postponeAll(world, later.flat(), ({ reason }) => ({ reason, waitMs: INTERVAL_MS_MIN }));
  await Promise.all(asked.map((group) => trackGroup(world, service, group)));
  return burns.length;
}

/** Burns with the same key need one request. */
function groupKey({ crossing }: CrossingOfIntent): string {
  const isOwn = crossing.reason === EXPIRED;
  return isOwn ? String(crossing.movement_id) : `${crossing.chain}/${crossing.proof_tx}`;
}

async function trackGroup(world: TrackWorld, service: BridgeService, group: readonly ClaimedBurn[]): Promise<void> {
  try {
    const [first] = group;
    if (first?.crossing.reason === EXPIRED && !(await renewProof(world, service, first.crossing))) return;
    await applyTrackings(world, await askAbout(world, service, group));
  } catch (error) {
    if (!(error instanceof BridgeUnavailable)) throw error;
    warnRepeated(world, {
      key: `bridge service ${error.message}`,
      fields: {
        crossing: group[0]?.crossing.movement_id,
        intent: group[0]?.intent.id,
        burns: group.length,
        err: error,
      },
      message: "the bridge's service does not answer; its crossings wait",
    });
    // What it said before stays.
    await postponeAll(world, group, ({ reason }) => ({ reason }));
  }
}

/** `tracking`: undefined where the configuration lacks the bridge of a chain. */
type TrackedBurn = CrossingOfIntent & { tracking: BurnTracking | undefined };

/** Asks about burns of one transaction. */
async function askAbout(
  world: TrackWorld,
  service: BridgeService,
  group: readonly ClaimedBurn[],
): Promise<TrackedBurn[]> {
  const known = group.flatMap((each) => {
    const { chain, settle_chain: settleChain, proof_tx: chainTx, token, units } = each.crossing;
    const domains = findDomains(world.catalog, { chain, settleChain });
    if (domains === undefined) return [];
    const { domain, settleDomain } = domains;
    const recipient = mintAddress(each.intent);
    return { each, domain, chainTx, burn: { settleDomain, inbox: each.crossing.inbox, recipient, token, units } };
  });
  const [first] = known;
  if (first === undefined)
    throw new BridgeUnavailable(`the configuration lacks the bridge of ${group[0]?.crossing.chain}`);
  const { domain, chainTx } = first;
  const burns = known.map(({ burn }) => burn);
  const trackings = await askService(world, "messages", () => service.track({ domain, chainTx, burns }));
  const trackingOf = new Map(known.map(({ each }, index) => [each, trackings[index]]));
  return group.map((each) => ({ ...each, tracking: trackingOf.get(each) }));
}

/**
 * Asks for a new proof. True when the service gives none, so that its messages are read in the same turn: one of them
 * may be newer.
 */
async function renewProof(world: TrackWorld, service: BridgeService, burn: Crossing): Promise<boolean> {
  const answer = await askService(world, "messages", () => service.renew(burn.mint ?? ""));
  burn.reason = RENEWED;
  if (answer === "refused") return true;
  const at = world.clock.now();
  await postponeBurns(world.db, [toChange(burn, { reason: RENEWED, retryAt: addMs(at, INTERVAL_MS_MIN) })], at);
  return false;
}

async function applyTrackings(world: TrackWorld, burns: readonly TrackedBurn[]): Promise<void> {
  const offered = burns.flatMap(({ crossing: { settle_chain }, tracking }) =>
    tracking?.kind === "proven" ? tracking.proofs.map(({ mint }) => ({ settle_chain, mint })) : [],
  );
  const named = new Map(offered.map((proof) => [proof.mint, proof]));
  const holders = new Map((await listProofHolders(world.db, [...named.values()])).map((each) => [each.mint, each]));
  const proofs = assignProofs(burns, holders);
  const stored = await storeProofs(world.db, proofs, world.clock.now());
  const left = burns.filter(({ crossing }) => !stored.has(crossing.movement_id));
  const trackings = new Map(left.map(({ crossing, tracking }) => [crossing.movement_id, tracking]));
  await postponeAll(world, left, (burn, at) =>
    nextStep(burn, { tracking: trackings.get(burn.movement_id), holders, at }),
  );
}

type NextStep = { reason: string | null; proofTx?: string | undefined; waitMs?: number };

function nextStep(
  burn: Crossing,
  {
    tracking,
    holders,
    at,
  }: { tracking: BurnTracking | undefined; holders: ReadonlyMap<string, ProofHolder>; at: Date },
): NextStep {
  if (burn.reason === RENEWED) return { reason: addMs(burn.updated_at, RENEW_AGAIN_MS) <= at ? EXPIRED : RENEWED };
  if (tracking === undefined) return { reason: burn.reason };
  if (tracking.kind !== "proven") return { reason: reasonOf(tracking) };
  const proofTx = findSwapped(
    burn,
    tracking.proofs.flatMap(({ mint }) => holders.get(mint) ?? []),
  );
  return proofTx === undefined
    ? { reason: "proof_of_another_burn" }
    : { reason: "proof_held_by_another_burn", proofTx, waitMs: INTERVAL_MS_MIN };
}

/** Postpones burns. Those of one transaction keep one time, so that they are asked about together. */
async function postponeAll(
  world: TrackWorld,
  burns: readonly CrossingOfIntent[],
  stepOf: (burn: Crossing, at: Date) => NextStep,
): Promise<void> {
  const at = world.clock.now();
  const waits = burns.map(({ crossing }) => waitMsOf(world, crossing, at));
  const commonMs = Math.min(...waits);
  const changes = burns.map(({ crossing }) => {
    const { reason, proofTx, waitMs = commonMs } = stepOf(crossing, at);
    return toChange(crossing, { reason, proofTx, retryAt: addMs(at, waitMs) });
  });
  await postponeBurns(world.db, changes, at);
}

/** Without `proofTx` the burn's own transaction is asked about next. */
function toChange(
  { movement_id, chain_tx }: Crossing,
  { reason, proofTx, retryAt }: { reason: string | null; proofTx?: string | undefined; retryAt: Date },
) {
  return { movement_id, reason, proof_tx: proofTx ?? chain_tx, retry_at: retryAt };
}

function reasonOf(tracking: BurnTracking): string | null {
  if (tracking.kind === "pending") return tracking.reason ?? null;
  return tracking.kind === "unseen" ? "not_seen_by_bridge" : "proof_of_another_burn";
}

/** Rarer with age, and often around the time when the burn's block becomes final, because its proof comes then. */
function waitMsOf({ catalog }: TrackWorld, burn: Crossing, at: Date): number {
  const ageMs = Math.max(0, at.getTime() - burn.created_at.getTime());
  const { finalizedMs = 0 } = findWatchedChain(catalog, burn.chain)?.estimates ?? {};
  const isExpected = ageMs > finalizedMs / 2 && ageMs < finalizedMs * 2;
  const waitMs = isExpected ? INTERVAL_MS_EXPECTED : Math.max(ageMs / AGE_PARTS, INTERVAL_MS_MIN);
  return Math.round(Math.min(waitMs, INTERVAL_MS_MAX));
}
