/** How many slips of the hand may lie between a word and the one that was meant. */
const SLIPS_MAX = 3;

/** The candidate that `word` is most likely a slip of; undefined when it resembles none. */
export function nearest(word: string, candidates: Iterable<string>): string | undefined {
  let best: string | undefined;
  let bestSlips = Math.min(SLIPS_MAX, Math.floor(word.length / 2)) + 1;
  for (const candidate of candidates) {
    const slips = countSlips(word.toLowerCase(), candidate.toLowerCase(), bestSlips);
    if (slips < bestSlips) {
      best = candidate;
      bestSlips = slips;
    }
  }
  return best;
}

/** Letters inserted, left out, replaced or swapped with their neighbour; `enough` or more is not told apart. */
function countSlips(from: string, to: string, enough: number): number {
  if (Math.abs(from.length - to.length) >= enough) return enough;
  let before: number[] = [];
  let above = Array.from({ length: to.length + 1 }, (_, column) => column);
  for (let row = 1; row <= from.length; row += 1) {
    const current = [row];
    for (let column = 1; column <= to.length; column += 1) {
      const same = from[row - 1] === to[column - 1];
      const replaced = (above[column - 1] ?? 0) + (same ? 0 : 1);
      const swapped = from[row - 1] === to[column - 2] && from[row - 2] === to[column - 1];
      current.push(
        Math.min(
          replaced,
          (above[column] ?? 0) + 1,
          (current[column - 1] ?? 0) + 1,
          swapped ? (before[column - 2] ?? enough) + 1 : enough,
        ),
      );
    }
    before = above;
    above = current;
  }
  return above[to.length] ?? enough;
}
