import type { Chain } from "../../chain/chain.ts";
import type { ChainReader } from "../../chain/reader.ts";
import { comparedProviders, logHeadHold, type ComparedProviders, type Disagreement } from "../providers/headHold.ts";
import { followedChain } from "./followedChain.ts";
import { pollProviders, type ProviderComparison } from "../providers/pollProviders.ts";
import { recordMovements } from "../record/recordMovements.ts";
import type { WatchWorld } from "../watchWorld.ts";
import { listKnownBlocks } from "../store/chainReads.ts";
import { type KnownBlock } from "../store/store.ts";
import { raiseAlarm } from "../../kernel/alarm/raiseAlarm.ts";

// A provider with a false chain can mislead the cursor while the others are unreachable. Following heads never corrects
// that: the true chain is shorter, or differs deeper than a poll reads. So the cursor is compared with every provider
// at intervals.

const COMPARE_MS = 5_000;
/** Most providers must disagree for this long: near the head they differ often, for seconds. */
const DISAGREEMENT_MS_MIN = 30_000;
/** Cooldown of an outvoted provider. */
const COOLDOWN_MS = 600_000;
/** Bisection steps that cover any possible block number. */
const BISECTION_STEPS_MAX = 64;

/**
 * Compares the cursor with every provider. Rewinds it to the last common block when most answering providers have
 * disagreed for DISAGREEMENT_MS_MIN. Returns the new position; undefined when the cursor stays.
 */
export async function reconcileCursor(
  world: WatchWorld,
  chain: Chain,
  cursor: KnownBlock,
): Promise<KnownBlock | undefined> {
  const compared = comparedProviders(world, chain);
  const nowMs = world.clock.monotonicMs();
  const isAlone = chain.providers.providerCount < 2;
  // A single provider is compared only after a long pause without new blocks, which saves requests.
  const isDue = isAlone ? nowMs - followedChain(world, chain).lastBlockAtMs > DISAGREEMENT_MS_MIN : true;
  if (!isDue || nowMs - compared.atMs < COMPARE_MS) return undefined;
  compared.atMs = nowMs;
  const comparisons = await pollProviders(world, chain, cursor);
  compared.hasMultipleReplies = comparisons.length > 1;
  const agreeing = comparisons.filter((comparison) => comparison.kind === "agrees");
  // A single provider that is behind may be a restored node that catches up again.
  const disagreeing = comparisons.filter(
    (comparison) => comparison.kind === "differs" || (comparison.kind === "behind" && !isAlone),
  );
  const persistent = persistentDisagreements(compared, { disagreeing, nowMs });
  logHeadHold(world, chain, nowMs);
  if (persistent.length === 0) return undefined;
  if (persistent.length <= agreeing.length) {
    logDispute(world, chain, { compared, agreeing, lasting: persistent });
    return undefined;
  }
  return rewindToProviders(world, chain, { cursor, lasting: persistent, agreeing });
}

/**
 * The providers that have objected long enough. One that is only behind must also have advanced; otherwise it is stuck.
 */
function persistentDisagreements(
  compared: ComparedProviders,
  { disagreeing, nowMs }: { disagreeing: readonly ProviderComparison[]; nowMs: number },
): ProviderComparison[] {
  const before = compared.disagreements;
  const disagreements = new Map<string, Disagreement>();
  for (const { provider, kind, head } of disagreeing) {
    const first = before.get(provider) ?? {
      sinceMs: nowMs,
      sinceNumber: head.number,
      headNumber: -1n,
      movedAtMs: nowMs,
    };
    const movedAtMs = head.number > first.headNumber ? nowMs : first.movedAtMs;
    const isStuck = kind === "behind" && nowMs - movedAtMs >= DISAGREEMENT_MS_MIN;
    disagreements.set(provider, { ...first, headNumber: head.number, movedAtMs, isStuck });
  }
  compared.disagreements = disagreements;
  if (disagreeing.length === 0) compared.isDisputeLogged = false;
  return disagreeing.filter(({ provider, kind, head }) => {
    const disagreement = disagreements.get(provider);
    if (disagreement === undefined || nowMs - disagreement.sinceMs < DISAGREEMENT_MS_MIN) return false;
    return kind === "differs" || head.number > disagreement.sinceNumber;
  });
}

function logDispute(
  world: WatchWorld,
  chain: Chain,
  {
    compared,
    agreeing,
    lasting,
  }: { compared: ComparedProviders; agreeing: readonly ProviderComparison[]; lasting: readonly ProviderComparison[] },
): void {
  if (compared.isDisputeLogged) return;
  compared.isDisputeLogged = true;
  raiseAlarm(
    world.log,
    {
      alarm: "providers_differ",
      chain: chain.caip2,
      agreeing: agreeing.map(formatComparison),
      objecting: lasting.map(formatComparison),
    },
    "providers report different chains, and the objecting ones are no majority",
  );
}

async function rewindToProviders(
  world: WatchWorld,
  chain: Chain,
  {
    cursor,
    lasting,
    agreeing,
  }: { cursor: KnownBlock; lasting: readonly ProviderComparison[]; agreeing: readonly ProviderComparison[] },
): Promise<KnownBlock | undefined> {
  const [first] = lasting;
  if (first === undefined) return undefined;
  const compared = comparedProviders(world, chain);
  const upTo = first.head.number < cursor.number ? first.head.number : cursor.number;
  const ancestor = await chain.providers.runWith(first.provider, (reader) =>
    bisectCommonAncestor(world, reader, { chain, upTo }),
  );
  const facts = {
    alarm: "chain_taken_back" as const,
    chain: chain.caip2,
    from: String(cursor.number),
    to: ancestor === undefined ? null : String(ancestor.number),
    agreeing: agreeing.map(formatComparison),
    objecting: lasting.map(formatComparison),
  };
  if (ancestor === undefined) {
    if (!compared.isDisputeLogged)
      raiseAlarm(world.log, facts, "most providers report a chain without any known block");
    compared.isDisputeLogged = true;
    return undefined;
  }
  const segment = { from: cursor, ancestorNumber: ancestor.number, to: ancestor, blocks: [], located: [] };
  if (!(await recordMovements(world, chain, { kind: "segment", ...segment }))) return undefined;
  for (const { provider } of agreeing) chain.providers.coolDown(provider, COOLDOWN_MS);
  compared.disagreements = new Map();
  followedChain(world, chain).lastBlockAtMs = world.clock.monotonicMs();
  raiseAlarm(world.log, facts, "the cursor was rewound to the chain that most providers report");
  return ancestor;
}

/**
 * The highest known block, at or below `upTo`, on the provider's chain. Bisection works, because every block below a
 * common one is common too.
 */
async function bisectCommonAncestor(
  world: WatchWorld,
  reader: ChainReader,
  { chain, upTo }: { chain: Chain; upTo: bigint },
): Promise<KnownBlock | undefined> {
  let shared: KnownBlock | undefined;
  let [low, high] = [0n, upTo];
  for (let halving = 0; halving < BISECTION_STEPS_MAX && low <= high; halving += 1) {
    const middle = (low + high) / 2n;
    const [known] = await listKnownBlocks(world.db, { chain: chain.caip2, upTo: middle, limit: 1 });
    if (known === undefined || known.number < low) {
      low = middle + 1n;
      continue;
    }
    const block = await reader.block({ number: known.number });
    if (block?.hash === known.hash) [shared, low] = [known, middle + 1n];
    else high = known.number - 1n;
  }
  return shared;
}

function formatComparison({ provider, kind, head }: ProviderComparison): string {
  return `${provider} ${kind} at ${head.number}`;
}
