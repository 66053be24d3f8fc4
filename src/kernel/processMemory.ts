/** One thing that a process keeps in memory, and how it begins. */
export type MemorySlot<T extends object> = { readonly create: () => T };

/** Caches and other state of one process, a slot for each station that needs one. It only saves work: the database decides. */
export class ProcessMemory {
  readonly #contents = new Map<MemorySlot<object>, object>();

  /** What the slot holds; the same object at every call. */
  get<T extends object>(slot: MemorySlot<T>): T {
    const held = this.#contents.get(slot) ?? slot.create();
    this.#contents.set(slot, held);
    return held as T;
  }
}
