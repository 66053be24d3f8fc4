import type { SeededRandom } from "./seededRandom.ts";

/** Returns false when it resumed no waiter. */
type EventHandler = () => unknown;
type ScheduledEvent = { atMs: number; tieBreaker: number; run: EventHandler };

/**
 * Orders all events in virtual time. After each event, resumed code runs until it waits for another event. Nothing in a
 * simulation waits for anything else, so one turn of the event loop suffices to settle it.
 */
export class Scheduler {
  nowMs = 0;
  steps = 0;
  readonly #random: SeededRandom;
  /** A binary heap, the earliest event first. The seed orders equal times. */
  readonly #heap: ScheduledEvent[] = [];

  constructor(random: SeededRandom) {
    this.#random = random;
  }

  /** Schedules `run` after `delayMs`. */
  after(delayMs: number, run: EventHandler): void {
    const event = { atMs: this.nowMs + delayMs, tieBreaker: this.#random.number(), run };
    const heap = this.#heap;
    heap.push(event);
    for (let at = heap.length - 1; at > 0;) {
      const up = (at - 1) >> 1;
      if (!isBefore(heap, at, up)) return;
      swap(heap, at, up);
      at = up;
    }
  }

  /** Runs the next event and lets the resumed code settle. Returns false when no event is left. */
  async step(): Promise<boolean> {
    const event = this.#popEarliest();
    if (event === undefined) return false;
    this.steps += 1;
    this.nowMs = Math.max(this.nowMs, event.atMs);
    if (event.run() !== false) await flushPromises();
    return true;
  }

  #popEarliest(): ScheduledEvent | undefined {
    const heap = this.#heap;
    const first = heap[0];
    const last = heap.pop();
    if (first === undefined || last === undefined || first === last) return first;
    heap[0] = last;
    for (let at = 0; ;) {
      let least = at;
      for (const down of [2 * at + 1, 2 * at + 2]) if (down < heap.length && isBefore(heap, down, least)) least = down;
      if (least === at) return first;
      swap(heap, at, least);
      at = least;
    }
  }
}

/** Resolves after all promises that can settle have settled. */
function flushPromises(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

function isBefore(heap: readonly ScheduledEvent[], one: number, other: number): boolean {
  const [a, b] = [heap[one], heap[other]];
  if (a === undefined || b === undefined) return false;
  return a.atMs === b.atMs ? a.tieBreaker < b.tieBreaker : a.atMs < b.atMs;
}

function swap(heap: ScheduledEvent[], one: number, other: number): void {
  const [a, b] = [heap[one], heap[other]];
  if (a === undefined || b === undefined) return;
  heap[one] = b;
  heap[other] = a;
}
