/** The largest edit distance between a text and its match. */
const EDIT_DISTANCE_MAX = 3;

/** The candidate with the smallest edit distance to `text`, ignoring case; undefined when none is close enough. */
export function closestMatch(text: string, candidates: Iterable<string>): string | undefined {
  let best: string | undefined;
  let bestDistance = Math.min(EDIT_DISTANCE_MAX, Math.floor(text.length / 2)) + 1;
  for (const candidate of candidates) {
    const distance = editDistance(text.toLowerCase(), candidate.toLowerCase(), bestDistance);
    if (distance < bestDistance) {
      best = candidate;
      bestDistance = distance;
    }
  }
  return best;
}

/**
 * Counts insertions, deletions, replacements and swaps of neighbours. Returns `limit` for any distance of `limit` or
 * more.
 */
function editDistance(from: string, to: string, limit: number): number {
  if (Math.abs(from.length - to.length) >= limit) return limit;
  let twoRowsAbove: number[] = [];
  let rowAbove = Array.from({ length: to.length + 1 }, (_, column) => column);
  for (let row = 1; row <= from.length; row += 1) {
    const current = [row];
    for (let column = 1; column <= to.length; column += 1) {
      const same = from[row - 1] === to[column - 1];
      const replaced = (rowAbove[column - 1] ?? 0) + (same ? 0 : 1);
      const swapped = from[row - 1] === to[column - 2] && from[row - 2] === to[column - 1];
      current.push(
        Math.min(
          replaced,
          (rowAbove[column] ?? 0) + 1,
          (current[column - 1] ?? 0) + 1,
          swapped ? (twoRowsAbove[column - 2] ?? limit) + 1 : limit,
        ),
      );
    }
    twoRowsAbove = rowAbove;
    rowAbove = current;
  }
  return rowAbove[to.length] ?? limit;
}
