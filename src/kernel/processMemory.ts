/** One object in the memory of a process, and its initial value. */
export type MemorySlot<T extends object> = { readonly create: () => T };

/**
 * Caches and other state of one process, with a slot for each station that needs one. It only saves work: the database
 * decides.
 */
export class ProcessMemory {
  readonly #contents = new Map<MemorySlot<object>, object>();

  /** Returns the slot's object, the same one at every call. */
  get<T extends object>(slot: MemorySlot<T>): T {
    const content = this.#contents.get(slot) ?? slot.create();
    this.#contents.set(slot, content);
    return content as T;
  }
}
