export type HalvedWork<Item, Result> = {
  step: (items: readonly Item[]) => Promise<Result>;
  /** Whether the items caused this failure, so that some of them may do better alone. */
  isCausedByItems: (error: unknown) => boolean;
  /** For an item that fails alone. */
  onFailed: (item: Item, error: unknown) => void | Promise<void>;
};

/**
 * Runs `step` for all items, and for each half where it fails because of them, so that an item that fails alone holds up
 * no other. Returns the results of the steps that succeeded. Throws other errors.
 */
export async function halveWhatFails<Item, Result>(
  items: readonly Item[],
  work: HalvedWork<Item, Result>,
): Promise<Result[]> {
  const [first, ...others] = items;
  if (first === undefined) return [];
  try {
    return [await work.step(items)];
  } catch (error) {
    if (!work.isCausedByItems(error)) throw error;
    if (others.length === 0) {
      await work.onFailed(first, error);
      return [];
    }
  }
  const middle = Math.ceil(items.length / 2);
  const results = await halveWhatFails(items.slice(0, middle), work);
  results.push(...(await halveWhatFails(items.slice(middle), work)));
  return results;
}
