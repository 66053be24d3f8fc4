import type { Clock } from "../kernel/clock.ts";
import type { MemorySlot, ProcessMemory } from "../kernel/processMemory.ts";
import type { Chain } from "../chain/chain.ts";

type SlotWorld = { clock: Clock; memory: ProcessMemory };

/**
 * A slot of process memory with one object for each chain. As every slot it only saves work: without it the same rows
 * are written.
 */
export function perChain<T extends object>(create: (clock: Clock) => T): (world: SlotWorld, chain: Chain) => T {
  const slot: MemorySlot<WeakMap<Chain, T>> = { create: () => new WeakMap() };
  return ({ clock, memory }, chain) => {
    const all = memory.get(slot);
    const content = all.get(chain) ?? create(clock);
    all.set(chain, content);
    return content;
  };
}
