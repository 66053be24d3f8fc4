// Divides a long run of test:deep into parts, and spreads the parts over shares.

export type DeepPart = {
  name: string;
  /** The arguments of `node`. */
  command: readonly string[];
  environment?: Readonly<Record<string, string>>;
  /** The duration on an idle machine. */
  seconds: number;
};

export type Share = { number: number; of: number };

/** Parses a share such as "3/8". Returns undefined for any other text. */
export function parseShare(text: string): Share | undefined {
  const [, number, of] = /^([1-9]\d{0,2})\/([1-9]\d{0,2})$/.exec(text) ?? [];
  const share = { number: Number(number), of: Number(of) };
  return share.number <= share.of ? share : undefined;
}

/** The parts of one share. Each part is in exactly one share, and the shares take about the same time. */
export function partsOfShare(parts: readonly DeepPart[], { number, of }: Share): DeepPart[] {
  const shares = Array.from({ length: of }, () => ({ seconds: 0, parts: [] as DeepPart[] }));
  for (const part of parts.toSorted((one, other) => other.seconds - one.seconds)) {
    const [shortest] = shares.toSorted((one, other) => one.seconds - other.seconds);
    if (shortest === undefined) continue;
    shortest.seconds += part.seconds;
    shortest.parts.push(part);
  }
  return shares[number - 1]?.parts ?? [];
}
