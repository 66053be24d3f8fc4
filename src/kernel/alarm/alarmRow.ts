/**
 * Where an alarm is found. `checks`: the alarm checks find it, and find when it is over. `code`: the code that meets it
 * raises it, and it is over an hour after it was last raised. `both`: the code logs each case, and the checks find
 * whether any is left.
 */
type AlarmSource = "checks" | "code" | "both";

export type AlarmRow = {
  /** One sentence. */
  happened: string;
  /** Who is affected, as one sentence. */
  affects: string;
  /** What the operator does, with the command. */
  remedy: string;
  source: AlarmSource;
};
