import { chooseScreen, type Situation } from "../src/situation.ts";
import type { Translator } from "../src/translator.ts";
import { isUnderWay } from "../src/views/progress.ts";

/**
 * What a screen reader hears after a change: the heading of a new screen, halfway, offline and back, copied. Never each
 * confirmation. Returns the earlier text when there is nothing new.
 */
export function announce(
  before: Situation,
  after: Situation,
  { t, heading }: { readonly t: Translator; readonly heading: string },
): string {
  if (after.copied !== null && after.copied !== before.copied)
    return t.text(after.copied.isSelectedOnly ? "common.selected" : "common.copied");
  if (after.connection.isBack && !before.connection.isBack) return t.text("offline.back");
  if (after.connection.isLost && !before.connection.isLost) return t.text("offline.title");
  const screen = chooseScreen(after);
  const isNew = screen !== chooseScreen(before);
  const { state } = after;
  if (state === null) return after.announcement;
  switch (screen) {
    case "seen":
    case "many":
      if (isNew) return heading;
      return crossedHalf(before, after) ? halfway(after, t) : after.announcement;
    case "underpaid":
    case "paid":
    case "overpaid":
    case "late":
    case "held":
    case "archived":
      return isNew ? heading : after.announcement;
    case "ready":
      return isNew ? t.text("pay.waiting") : after.announcement;
    default:
      return after.announcement;
  }
}

function crossedHalf(before: Situation, after: Situation): boolean {
  return share(before) < 0.5 && share(after) >= 0.5 && share(after) < 1;
}

function share({ state }: Situation): number {
  const deposit = state?.deposits.find(isUnderWay);
  return deposit === undefined || deposit.required === null ? 0 : deposit.confirmations / deposit.required;
}

function halfway({ state }: Situation, t: Translator): string {
  const deposit = state?.deposits.find(isUnderWay);
  const m = deposit?.required ?? 0;
  return t.plural("seen.spoken", m, { n: String(deposit?.confirmations ?? 0), m: String(m) });
}
