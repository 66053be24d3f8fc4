import { isCausedByData } from "../../db/errors.ts";
import type { World } from "../../world.ts";

/**
 * Runs `step` for all of these intents, in one transaction of its own. When that fails because of their rows, each intent runs alone, so that
 * one that fails does not delay the others; it is logged, and the caller's next round tries it again. Throws other errors.
 */
export async function isolateIntents(
  world: Pick<World, "log">,
  input: {
    chain: string;
    work: string;
    intentIds: readonly string[];
    step: (intentIds: readonly string[]) => Promise<void>;
  },
): Promise<void> {
  const { chain, work, intentIds, step } = input;
  if (intentIds.length === 0) return;
  try {
    return await step(intentIds);
  } catch (error) {
    if (!isCausedByData(error)) throw error;
    if (intentIds.length === 1) return logFailed(world, { chain, work, intent: intentIds[0], error });
  }
  for (const intentId of intentIds) await isolateIntents(world, { ...input, intentIds: [intentId] });
}

function logFailed(
  { log }: Pick<World, "log">,
  { error, ...fields }: { chain: string; work: string; intent: string | undefined; error: unknown },
): void {
  log.error(
    { ...fields, alarm: "intent_failed", err: error },
    "an intent failed and was left out; it is tried again later",
  );
}
