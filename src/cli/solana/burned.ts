import type { FoundBurn } from "@tributary/recover/bridge/searchBurns";
import { matchBurns } from "@tributary/recover/bridge/matchBurns";
import type { ParsedIntents } from "@tributary/recover/parseIntents";
import { formatTracked } from "../recover/burnedOnChains.ts";

/** What was burned on Solana, in a run that reads no payout's chain. */
export function formatSolanaBurns(
  burns: readonly FoundBurn[],
  { intents, file }: { intents: ParsedIntents; file: string },
): string[] {
  const inboxes = intents.onEvm;
  return formatTracked(matchBurns(burns, undefined), { inboxes, results: [], file, isLooking: false });
}
