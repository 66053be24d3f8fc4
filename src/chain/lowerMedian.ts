import type { Providers } from "./providers.ts";
import type { ChainReader } from "./reader.ts";

/**
 * The lower of the two middle values, for an even number; undefined for none. One false answer of two or more never
 * raises it.
 */
export function lowerMedian(answers: readonly bigint[]): bigint | undefined {
  const sorted = answers.toSorted((one, other) => (one < other ? -1 : 1));
  return sorted[Math.floor((sorted.length - 1) / 2)];
}

/** Answers needed, where there are so many providers: one false answer must not raise the result. */
const ANSWERS_MIN = 2;

/** The lower median of what the providers answer. */
export async function askLowerMedian<Reader extends ChainReader>(
  providers: Providers<Reader>,
  read: (reader: Reader) => Promise<bigint>,
): Promise<bigint> {
  const ask = async (scope: "all" | "available") => {
    const replies = await providers.runAll(read, scope);
    return replies.flatMap((each) => ("answer" in each ? [each.answer] : []));
  };
  const available = await ask("available");
  const answers = available.length >= Math.min(ANSWERS_MIN, providers.providerCount) ? available : await ask("all");
  return lowerMedian(answers) ?? providers.run(read);
}
