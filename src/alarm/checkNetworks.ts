import type { Caip2 } from "../kernel/caip.ts";
import { ProviderFailed } from "../chain/reader.ts";
import { findWatchedChain } from "../catalog/catalog.ts";
import { hasRole } from "../config/operate/roles.ts";
import type { MemorySlot } from "../kernel/processMemory.ts";
import type { World } from "../world.ts";
import type { AlarmCondition } from "./alarm.ts";

// Whether the public networks are as the catalogue of this release has them. A comparison costs a dozen requests, so
// each chain is compared once an hour.

const INTERVAL_MS = 3_600_000;
/** After a comparison that no provider answered. */
const RETRY_MS = 300_000;

type Compared = { dueAtMs: number; differences: readonly string[] };

const COMPARED: MemorySlot<Map<Caip2, Compared>> = { create: () => new Map() };

type NetworksWorld = Pick<World, "chains" | "catalog" | "clock" | "config" | "memory">;

/** A process that neither watches nor settles asks no providers. */
export async function checkNetworks(world: NetworksWorld): Promise<AlarmCondition[]> {
  if (!hasRole(world.config, "watch") && !hasRole(world.config, "settle")) return [];
  const compared = world.memory.get(COMPARED);
  const nowMs = world.clock.monotonicMs();
  await Promise.all(
    [...world.chains.values()].map(async ({ caip2, findDifferences }) => {
      const last = compared.get(caip2);
      if (findDifferences === undefined || (last !== undefined && last.dueAtMs > nowMs)) return;
      // Another round must not begin the same comparison.
      compared.set(caip2, { dueAtMs: nowMs + RETRY_MS, differences: last?.differences ?? [] });
      const differences = await findOrKeep(findDifferences);
      if (differences !== undefined) compared.set(caip2, { dueAtMs: nowMs + INTERVAL_MS, differences });
    }),
  );
  return [...compared].flatMap(([chain, { differences }]) =>
    differences.map((reason): AlarmCondition => {
      const chainName = findWatchedChain(world.catalog, chain)?.name ?? chain;
      return { alarm: "network_differs", subject: `${chain} ${reason}`, facts: { chain, chainName, reason } };
    }),
  );
}

/** Undefined when no provider answered, so that what was found last stays. */
async function findOrKeep(find: () => Promise<string[] | undefined>): Promise<string[] | undefined> {
  try {
    return (await find()) ?? [];
  } catch (error) {
    if (error instanceof ProviderFailed) return undefined;
    throw error;
  }
}
