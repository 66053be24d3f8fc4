import { addressFormatOf } from "../chain/namespaces.ts";
import type { HintProvider } from "../config/config.ts";
import { namespaceOf, referenceOf, type Caip2 } from "../kernel/caip.ts";
import { addMs } from "../kernel/clock.ts";
import type { MemorySlot } from "../kernel/processMemory.ts";
import type { World } from "../world.ts";
import { listNamedInboxes, saveProviderHint } from "./hintStore.ts";
import { HINT_TTL_MS, viewHintsTopic } from "./registerView.ts";
import { upsertViewHints } from "./store.ts";

type HintWorld = Pick<World, "db" | "clock" | "catalog" | "memory" | "wake">;

/** Of one hint. A block of a busy chain has some hundreds of transfers. */
const ADDRESSES_MAX = 5_000;
const INBOXES_MAX = 100;
/** How exactly it is known when a provider last spoke. */
const SAVE_MS = 5_000;

/** When each provider's time was last saved, on the monotonic clock. */
const SAVED: MemorySlot<Map<string, number>> = { create: () => new Map() };

/**
 * Makes the watcher look sooner at the inboxes that a provider's message names, and returns their number. Nothing else
 * of the message is read, and no chain is asked: a false message costs what a payer's open page costs. The form of the
 * message does not matter, so that a provider may change it.
 */
export async function registerProviderHint(
  world: HintWorld,
  { chain, provider, message }: { chain: Caip2; provider: HintProvider; message: string },
): Promise<number> {
  const at = world.clock.now();
  await saveTime(world, { chain, provider, at });
  const addresses = findAddresses(chain, message);
  if (addresses.length === 0) return 0;
  const inboxes = await listNamedInboxes(world.db, { chain, addresses, limit: INBOXES_MAX });
  if (inboxes.length === 0) return 0;
  const tokens = world.catalog.assets.filter((asset) => asset.chain === chain).map(({ token }) => token);
  const expiresAt = addMs(at, HINT_TTL_MS);
  const [namespace, reference] = [namespaceOf(chain), referenceOf(chain)];
  const hints = inboxes.flatMap(({ intentId, token: only }) =>
    (only === "" ? tokens : [only]).map((token) => ({ intentId, namespace, reference, token, expiresAt })),
  );
  const distinct = new Map(hints.map((hint) => [`${hint.intentId} ${hint.token}`, hint]));
  await upsertViewHints(world.db, [...distinct.values()]);
  world.wake.notify(viewHintsTopic(chain));
  return inboxes.length;
}

function findAddresses(chain: Caip2, message: string): string[] {
  const found = new Set<string>();
  for (const address of addressFormatOf(namespaceOf(chain)).findIn(message)) {
    found.add(address);
    if (found.size >= ADDRESSES_MAX) break;
  }
  return [...found];
}

async function saveTime(
  { db, clock, memory }: HintWorld,
  { chain, provider, at }: { chain: Caip2; provider: HintProvider; at: Date },
): Promise<void> {
  const saved = memory.get(SAVED);
  const key = `${chain} ${provider}`;
  const nowMs = clock.monotonicMs();
  if (nowMs - (saved.get(key) ?? -Infinity) < SAVE_MS) return;
  await saveProviderHint(db, { chain, provider, at });
  saved.set(key, nowMs);
}
