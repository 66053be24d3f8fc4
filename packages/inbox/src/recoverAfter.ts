const recoveryDelayDays = 180;
const dayMs = 86_400_000;

/**
 * The start of the first UTC month that begins at least 180 days after `createdAt`, in Unix seconds. All intents of one
 * month share it, so that their inboxes can be settled in one netted batch.
 */
export function computeRecoverAfter(createdAt: Date): number {
  const earliestMs = createdAt.getTime() + recoveryDelayDays * dayMs;
  if (Number.isNaN(earliestMs)) throw new RangeError("createdAt must be a valid date");
  const earliest = new Date(earliestMs);
  const monthMs = Date.UTC(earliest.getUTCFullYear(), earliest.getUTCMonth(), 1);
  if (monthMs === earliestMs) return monthMs / 1000;
  return Date.UTC(earliest.getUTCFullYear(), earliest.getUTCMonth() + 1, 1) / 1000;
}
