import type { Caip2 } from "../kernel/caip.ts";
import { addMs } from "../kernel/clock.ts";
import type { MemorySlot } from "../kernel/processMemory.ts";
import type { World } from "../world.ts";

// A bridge's issuer may refuse the account that pays this service's fees. Then every burn of the chain waits, and no
// inbox is at fault.

type RefusedPayer = { readonly payer: string; readonly reason: string; readonly lastAt: Date };

/** Longer than the wait between two attempts. */
const REFUSED_MS = 300_000;
const REFUSED: MemorySlot<Map<Caip2, RefusedPayer>> = { create: () => new Map() };

type PayerWorld = Pick<World, "memory" | "clock">;

/**
 * Remembers how the last burn of a chain was prepared: `refused` undefined when it was not refused because of its
 * payer.
 */
export function notePayer(
  { memory, clock }: PayerWorld,
  chain: Caip2,
  refused: { payer: string; reason: string } | undefined,
): void {
  if (refused === undefined) memory.get(REFUSED).delete(chain);
  else memory.get(REFUSED).set(chain, { ...refused, lastAt: clock.now() });
}

/** The chains whose bridge refuses the payer, in this process. */
export function listRefusedPayers({ memory, clock }: PayerWorld): (RefusedPayer & { chain: Caip2 })[] {
  const now = clock.now();
  return [...memory.get(REFUSED)].flatMap(([chain, refused]) =>
    addMs(refused.lastAt, REFUSED_MS) > now ? [{ chain, ...refused }] : [],
  );
}
