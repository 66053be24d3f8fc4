import { classifyError, isCausedByData } from "../kernel/errors/classifyError.ts";
import { halveWhatFails } from "../kernel/errors/halveWhatFails.ts";
import type { World } from "../world.ts";
import { raiseAlarm } from "../kernel/alarm/raiseAlarm.ts";

type IsolatedWork = {
  chain: string;
  /** For the log. */
  work: string;
  intentIds: readonly string[];
  /** One transaction for these intents. */
  step: (intentIds: readonly string[]) => Promise<void>;
};

/** So many intents that take too long alone mean that the database is overloaded, and that no intent is to blame. */
const TIMEOUTS_MAX = 2;

/**
 * Runs `step` for all of these intents. When that fails because of their rows, it runs for each half, so that an intent
 * that fails alone does not delay the others; it is logged, and the caller's next round tries it again. Throws other
 * errors.
 */
export async function isolateIntents({ log }: Pick<World, "log">, input: IsolatedWork): Promise<void> {
  const { chain, work } = input;
  let timeouts = 0;
  await halveWhatFails(input.intentIds, {
    step: input.step,
    isCausedByItems: isCausedByData,
    onFailed: (intent, error) => {
      if (classifyError(error) === "timeout" && (timeouts += 1) >= TIMEOUTS_MAX) throw error;
      raiseAlarm(
        log,
        { alarm: "intent_failed", chain, work, intent, err: error },
        "an intent failed and was left out; it is tried again later",
      );
    },
  });
}
