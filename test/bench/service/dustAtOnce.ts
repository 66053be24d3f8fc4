import { setTimeout as delay } from "node:timers/promises";
import type { BenchService } from "./benchService.ts";
import { openDustSender } from "../../support/dustSender.ts";

// Many one-unit transfers in one instant, and the payments of others directly behind them.

/** A round waits at most this long until its dust is recorded. */
const RECORDED_MS_MAX = 180_000;
const CHECK_MS = 500;
/** Payments of each round that follow each other after the first one. */
const LATER_PAYMENTS = 4;

export type AtOnceTimes = { quiet: number[]; behind: number[]; after: number[]; recordedMs: number[] };

/**
 * Rounds of a quiet payment, the dust with a payment directly behind it, and further payments while the dust is
 * recorded.
 */
export async function payBehindDust(
  service: BenchService,
  { transfers, rounds }: { transfers: number; rounds: number },
): Promise<AtOnceTimes> {
  const flooded = await service.create();
  const sender = await openDustSender(service.chain);
  const times: AtOnceTimes = { quiet: [], behind: [], after: [], recordedMs: [] };
  for (let round = 1; round <= rounds; round += 1) {
    times.quiet.push(await service.settle(await service.create()));
    const intent = await service.create();
    await sender.send(flooded.inbox, transfers);
    const sentAt = performance.now();
    times.behind.push(await service.settle(intent));
    for (let later = 0; later < LATER_PAYMENTS; later += 1)
      times.after.push(await service.settle(await service.create()));
    await untilRecorded(service, { intentId: flooded.id, count: round * transfers });
    times.recordedMs.push(performance.now() - sentAt);
  }
  return times;
}

async function untilRecorded(
  { db }: BenchService,
  { intentId, count }: { intentId: string; count: number },
): Promise<void> {
  const query = db.root
    .selectFrom("movement")
    .select((select) => select.fn.countAll<bigint>().as("count"))
    .where("intent_id", "=", intentId);
  for (let waitedMs = 0; waitedMs < RECORDED_MS_MAX; waitedMs += CHECK_MS) {
    if (Number((await query.executeTakeFirstOrThrow()).count) >= count) return;
    await delay(CHECK_MS);
  }
  throw new Error("the dust was not recorded");
}
