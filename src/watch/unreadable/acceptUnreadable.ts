import type { Chain } from "../../chain/chain.ts";
import { perChain } from "../perChain.ts";
import type { ChainReader } from "../../chain/reader.ts";
import { skippedKeys, type UnreadableEntry, type UnreadableVerdict } from "../../chain/unreadable/unreadableEntry.ts";
import { warnRepeated } from "../../kernel/alarm/repeatedWarning.ts";
import { listInboxesAmong } from "../inboxes/inboxes.ts";
import { twoProviders } from "../search/searchTransfers.ts";
import type { WatchWorld } from "../watchWorld.ts";
import { addUnreadableInboxes, insertUnreadable, listKnownSubjects, type NewUnreadable } from "./unreadableStore.ts";

// Decides whether a reading may leave out what no reader can parse. It may when every provider that answers gives the
// same, two of them where two are configured, and when a row says so. What a provider answers too late, falsely or not
// at all is not unreadable.

/**
 * After this time without an answer of another provider, one is enough: else anybody could stop the chain for the price
 * of a transaction while a provider is away. Nothing counts by such a row, and the others are asked every few minutes.
 */
const ALONE_MS = 60_000;
/** Entries that wait for a second provider. More are forgotten, the oldest first. */
const WAITING_MAX = 1_000;

const unreadableEntries = perChain(() => ({
  /** Whether readings leave out what has a row. */
  isSkipping: false,
  /** Since when an entry waits for the answer of a second provider, on the monotonic clock. */
  waitingSinceMs: new Map<string, number>(),
}));

/** Makes readings of a chain leave out what has a row. Call it before a chain is read; later calls change nothing. */
export function skipUnreadable(world: WatchWorld, chain: Chain): void {
  const entries = unreadableEntries(world, chain);
  if (entries.isSkipping) return;
  entries.isSkipping = true;
  chain.providers.onUnreadable((found) => acceptUnreadable(world, chain, found));
}

/** Stores a row for each entry that names an inbox or the program. Returns whether all entries may be left out now. */
async function acceptUnreadable(
  world: WatchWorld,
  chain: Chain,
  entries: readonly UnreadableEntry[],
): Promise<boolean> {
  const { skipped } = chain.providers;
  const subjects = entries.map(({ key }) => key);
  const known = await listKnownSubjects(world.db, { chain: chain.caip2, subjects });
  await nameInboxes(
    world,
    chain,
    entries.filter(({ key }) => known.has(key)),
  );
  const unknown = entries.filter(({ key }) => !known.has(key));
  if (unknown.length === 0) return true;
  const confirmed = await confirmUnreadable(world, chain, unknown);
  if (confirmed.length > 0) await storeRows(world, chain, confirmed);
  skipped.add(confirmed.flatMap(({ entry }) => skippedKeys(entry)));
  return confirmed.length === unknown.length;
}

/** Adds the inboxes to rows whose entries were found in another list before. */
async function nameInboxes(world: WatchWorld, chain: Chain, entries: readonly UnreadableEntry[]): Promise<void> {
  const listed = entries.flatMap(({ key, listedBy = [] }) => listedBy.map((inbox) => ({ subject: key, inbox })));
  const inboxes = await listInboxesAmong(world.db, chain.caip2, [...new Set(listed.map(({ inbox }) => inbox))]);
  const named = listed.filter(({ inbox }) => inboxes.has(inbox));
  await addUnreadableInboxes(world.db, { chain: chain.caip2, named });
  chain.providers.skipped.add(entries.flatMap(skippedKeys));
}

type Confirmed = { entry: UnreadableEntry; providers: readonly string[] };

/** The entries that the providers answer alike. */
async function confirmUnreadable(
  world: WatchWorld,
  chain: Chain,
  entries: readonly UnreadableEntry[],
): Promise<Confirmed[]> {
  const verdicts = await askVerdicts(chain, entries);
  const { waitingSinceMs } = unreadableEntries(world, chain);
  const nowMs = world.clock.monotonicMs();
  return entries.flatMap((entry): Confirmed[] => {
    const { providers, isReadable } = countVerdicts(verdicts, entry);
    const sinceMs = waitingSinceMs.get(entry.key) ?? nowMs;
    const isEnough = providers.length >= twoProviders(chain);
    const isAlone = providers.length > 0 && nowMs - sinceMs >= ALONE_MS;
    if (!isReadable && (isEnough || isAlone)) {
      waitingSinceMs.delete(entry.key);
      return [{ entry, providers }];
    }
    waitingSinceMs.set(entry.key, sinceMs);
    for (const key of waitingSinceMs.keys()) {
      if (waitingSinceMs.size <= WAITING_MAX) break;
      waitingSinceMs.delete(key);
    }
    return [];
  });
}

type ProviderVerdicts = { provider: string; verdicts: ReadonlyMap<string, UnreadableVerdict> };

/** What each provider that answers has of the entries now. */
export async function askVerdicts(chain: Chain, entries: readonly UnreadableEntry[]): Promise<ProviderVerdicts[]> {
  const replies = await chain.providers.runAll(
    async (reader: ChainReader) => (await reader.recheckUnreadable?.(entries)) ?? new Map<string, UnreadableVerdict>(),
  );
  return replies.flatMap((each) => ("answer" in each ? [{ provider: each.provider, verdicts: each.answer }] : []));
}

/** Who cannot parse it for the same reason, and whether anybody can. */
export function countVerdicts(
  replies: readonly ProviderVerdicts[],
  { key, reason }: UnreadableEntry,
): { providers: string[]; isReadable: boolean } {
  const providers: string[] = [];
  let isReadable = false;
  for (const { provider, verdicts } of replies) {
    const verdict = verdicts.get(key);
    if (verdict?.state === "readable") isReadable = true;
    if (verdict?.state === "unreadable" && verdict.reason === reason) providers.push(provider);
  }
  return { providers, isReadable };
}

async function storeRows(world: WatchWorld, chain: Chain, confirmed: readonly Confirmed[]): Promise<void> {
  const names = new Set(confirmed.flatMap(({ entry }) => entry.names));
  const inboxes = await listInboxesAmong(world.db, chain.caip2, [...names]);
  const found = confirmed
    .map((each): NewUnreadable => ({ ...each, inboxes: each.entry.names.filter((name) => inboxes.has(name)) }))
    // What names nothing of ours moved nothing of ours.
    .filter((each) => each.inboxes.length > 0 || each.entry.namesProgram);
  await insertUnreadable(world.db, { chain: chain.caip2, found, at: world.clock.now() });
  for (const { entry, inboxes: named } of found)
    warnRepeated(world, {
      key: `unreadable ${chain.caip2} ${entry.reason}`,
      fields: { chain: chain.caip2, subject: entry.key, reason: entry.reason, inboxes: named },
      message: "a transaction cannot be read by this release; what stands beside it is read, and it is tried again",
    });
}
