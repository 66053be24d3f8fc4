import { purgeVerifications } from "../deposit/verify/verifyDeposits.ts";
import { purgeEvents } from "../event/purgeEvents.ts";
import { purgeExpired } from "../idempotency/purgeExpired.ts";
import { purgeSweepAgreements } from "../settlement/observe/verifySweeps.ts";
import { purgeTransactions } from "../settlement/purgeTransactions.ts";
import { purgeHandoffCodes } from "../intent/checkout/handoff.ts";
import { purgePrimedAccounts } from "../priming/purgePrimedAccounts.ts";
import { purgeSessions } from "../dashboard/session.ts";
import { purgeChallenges } from "../dashboard/signIn/walletSignIn.ts";
import { purgeSettlementDays } from "../settlement/days/settlementDays.ts";
import { purgeViewHints } from "../view/purgeViewHints.ts";
import { purgeDeliveries } from "../webhook/purgeDeliveries.ts";
import type { World } from "../world.ts";
import type { Loop } from "./loop.ts";

/** Rows in one transaction, few enough that no other statement waits long. */
const BATCH_MAX = 500;
/** Between two batches of a backlog, so that the database has time for everything else. */
const PAUSE_MS = 200;

/** Deletes `limit` old rows at most, and returns their number. */
type Purge = (limit: number) => Promise<number>;

/** Purging is never urgent: no code depends on the absence of an old row. */
export function purgeExpiredLoop(world: World): Loop {
  const chains = [...world.chains.values()];
  const purges: Purge[] = [
    (limit) => purgeExpired(world, limit),
    (limit) => purgeViewHints(world, limit),
    (limit) => purgeHandoffCodes(world, limit),
    (limit) => purgeVerifications(world, limit),
    (limit) => purgeSweepAgreements(world, limit),
    (limit) => purgeEvents(world, limit),
    (limit) => purgeDeliveries(world, limit),
    (limit) => purgeSessions(world, { kind: "key", limit }),
    (limit) => purgeSessions(world, { kind: "member", limit }),
    (limit) => purgeChallenges(world, limit),
    (limit) => purgeSettlementDays(world, limit),
    // Only such a sender writes these rows.
    ...(chains.some(({ sender }) => sender.accounts !== undefined)
      ? [(limit: number) => purgePrimedAccounts(world, limit)]
      : []),
    ...chains.map(
      (chain): Purge =>
        (limit) =>
          purgeTransactions(world, chain, limit),
    ),
  ];
  return {
    name: "purge",
    topic: "purge",
    intervalMs: 60_000,
    tick: async (ending) => {
      const hasMore = await runPurges(purges);
      if (hasMore) await world.clock.sleep(PAUSE_MS, ending);
      return hasMore;
    },
  };
}

/**
 * Runs one batch of each. The failure of one does not keep the others from running; the first error is thrown at the
 * end.
 */
async function runPurges(purges: readonly Purge[]): Promise<boolean> {
  const errors: unknown[] = [];
  let hasMore = false;
  for (const purge of purges) {
    try {
      if ((await purge(BATCH_MAX)) === BATCH_MAX) hasMore = true;
    } catch (error) {
      errors.push(error);
    }
  }
  if (errors.length > 0) throw errors[0];
  return hasMore;
}
