import type { Chain } from "../chain/chain.ts";
import type { ChainDriver } from "../chain/driver.ts";
import { tellHolders } from "./holders.ts";
import { memoryOf, type ChainMemory, type Objection } from "./memory.ts";
import { hearOpinions, type Opinion } from "./opinions.ts";
import { recordStretch, type WatchWorld } from "./record.ts";
import { listKnownBlocks, type KnownBlock } from "./store.ts";

// A provider that tells of a chain that is none can lead the cursor astray while the others are away. Heads alone never bring it back: the
// true chain is shorter, or differs further down than anybody looks. So all are asked now and then what they think of where we stand.

const COMPARE_MS = 5_000;
/** So long most of the providers must object: near the head they differ every day, for seconds. */
const DOUBT_MS = 30_000;
/** How long a provider rests that the others have outvoted. */
const ASIDE_MS = 600_000;
/** Halvings that find any block among all that there can be. */
const HALVINGS_MAX = 64;

/**
 * Compares the cursor with every provider, and takes it back to the last block that they share with us when most of those who answer have
 * objected for half a minute. Returns where it stands then; undefined when it stays.
 */
export async function mendCursor(world: WatchWorld, chain: Chain, cursor: KnownBlock): Promise<KnownBlock | undefined> {
  const memory = memoryOf(chain, world.clock);
  const nowMs = world.clock.monotonicMs();
  const isAlone = chain.providers.size < 2;
  // A single provider is asked only when it tells of nothing new, so that all is as if nobody asked.
  const isDue = isAlone ? nowMs - memory.lastNewsAtMs > DOUBT_MS : true;
  if (!isDue || nowMs - memory.comparedAtMs < COMPARE_MS) return undefined;
  memory.comparedAtMs = nowMs;
  const opinions = await hearOpinions(world, chain, cursor);
  memory.isCompared = opinions.length > 1;
  const agreeing = opinions.filter((opinion) => opinion.kind === "agrees");
  // A single one that is behind may have been restored from a copy, and comes up again.
  const objecting = opinions.filter((opinion) => opinion.kind === "differs" || (opinion.kind === "behind" && !isAlone));
  const lasting = lastingObjections(memory, { objecting, nowMs });
  tellHolders(world, chain, nowMs);
  if (lasting.length === 0) return undefined;
  if (lasting.length <= agreeing.length) {
    alarmOfDispute(world, chain, { memory, agreeing, lasting });
    return undefined;
  }
  return takeBackTo(world, chain, { cursor, lasting, agreeing });
}

/** Those who have objected for long enough; one that is merely behind must have moved meanwhile, or it is stuck and knows no better. */
function lastingObjections(
  memory: ChainMemory,
  { objecting, nowMs }: { objecting: readonly Opinion[]; nowMs: number },
): Opinion[] {
  const before = memory.objections;
  const objections = new Map<string, Objection>();
  for (const { provider, kind, head } of objecting) {
    const first = before.get(provider) ?? {
      sinceMs: nowMs,
      sinceNumber: head.number,
      headNumber: -1n,
      movedAtMs: nowMs,
    };
    const movedAtMs = head.number > first.headNumber ? nowMs : first.movedAtMs;
    const isStuck = kind === "behind" && nowMs - movedAtMs >= DOUBT_MS;
    objections.set(provider, { ...first, headNumber: head.number, movedAtMs, isStuck });
  }
  memory.objections = objections;
  if (objecting.length === 0) memory.isDisputeTold = false;
  return objecting.filter(({ provider, kind, head }) => {
    const objection = objections.get(provider);
    if (objection === undefined || nowMs - objection.sinceMs < DOUBT_MS) return false;
    return kind === "differs" || head.number > objection.sinceNumber;
  });
}

function alarmOfDispute(
  world: WatchWorld,
  chain: Chain,
  { memory, agreeing, lasting }: { memory: ChainMemory; agreeing: readonly Opinion[]; lasting: readonly Opinion[] },
): void {
  if (memory.isDisputeTold) return;
  memory.isDisputeTold = true;
  world.log.error(
    { alarm: "providers_differ", chain: chain.caip2, agreeing: agreeing.map(inWords), objecting: lasting.map(inWords) },
    "providers tell of different chains, and those that object are not the most",
  );
}

async function takeBackTo(
  world: WatchWorld,
  chain: Chain,
  { cursor, lasting, agreeing }: { cursor: KnownBlock; lasting: readonly Opinion[]; agreeing: readonly Opinion[] },
): Promise<KnownBlock | undefined> {
  const [first] = lasting;
  if (first === undefined) return undefined;
  const memory = memoryOf(chain, world.clock);
  const upTo = first.head.number < cursor.number ? first.head.number : cursor.number;
  const ancestor = await chain.providers.askOf(first.provider, (driver) => findShared(world, driver, { chain, upTo }));
  const facts = {
    alarm: "chain_taken_back",
    chain: chain.caip2,
    from: String(cursor.number),
    to: ancestor === undefined ? null : String(ancestor.number),
    agreeing: agreeing.map(inWords),
    objecting: lasting.map(inWords),
  };
  if (ancestor === undefined) {
    if (!memory.isDisputeTold) world.log.error(facts, "most providers tell of a chain of which no block is known");
    memory.isDisputeTold = true;
    return undefined;
  }
  const stretch = { from: cursor, ancestorNumber: ancestor.number, to: ancestor, blocks: [], sightings: [] };
  if (!(await recordStretch(world, chain, stretch))) return undefined;
  for (const { provider } of agreeing) chain.providers.setAside(provider, ASIDE_MS);
  memory.objections = new Map();
  memory.lastNewsAtMs = world.clock.monotonicMs();
  world.log.error(facts, "the recorded chain was taken back to what most providers tell");
  return ancestor;
}

/** The highest of our blocks, at or below `upTo`, that is on the provider's chain: found by halves, since below it all of them are. */
async function findShared(
  world: WatchWorld,
  driver: ChainDriver,
  { chain, upTo }: { chain: Chain; upTo: bigint },
): Promise<KnownBlock | undefined> {
  let shared: KnownBlock | undefined;
  let [low, high] = [0n, upTo];
  for (let halving = 0; halving < HALVINGS_MAX && low <= high; halving += 1) {
    const middle = (low + high) / 2n;
    const [known] = await listKnownBlocks(world.db, { chain: chain.caip2, upTo: middle, limit: 1 });
    if (known === undefined || known.number < low) {
      low = middle + 1n;
      continue;
    }
    const block = await driver.block({ number: known.number });
    if (block?.hash === known.hash) [shared, low] = [known, middle + 1n];
    else high = known.number - 1n;
  }
  return shared;
}

function inWords({ provider, kind, head }: Opinion): string {
  return `${provider} ${kind} at ${head.number}`;
}
