import type { Tx } from "../db/database.ts";
import { isCausedByData } from "../kernel/errors/classifyError.ts";
import { lockIntents } from "../intent/store.ts";
import type { Caip2 } from "../kernel/caip.ts";
import { addMs } from "../kernel/clock.ts";
import type { World } from "../world.ts";
import { SettlementChanges } from "./change/settlementChanges.ts";
import { afterFailedAttempt } from "./settlement.ts";
import { lockSettlements, listIneffectiveSettlements, type IneffectiveSettlement } from "./store.ts";
import { raiseAlarm } from "../kernel/alarm/raiseAlarm.ts";

type ReplanWorld = Pick<World, "db" | "clock" | "entropy" | "log" | "memory">;

/** Transactions reviewed per call. */
const TRANSACTIONS_MAX = 200;

/** Each chain's last reviewed transaction, so that the ones that wait long do not hide the later ones. */
const REVIEWED = { create: () => new Map<Caip2, bigint>() };

/**
 * Replans settlements whose closed transaction moved nothing out of their inbox: it reverted, its item was refused
 * inside a batch, or it can no longer be mined. Returns their number.
 */
export async function replanSettlements(world: ReplanWorld, chain: Caip2): Promise<number> {
  const reviewed = world.memory.get(REVIEWED);
  const page = { chain, afterOutgoing: reviewed.get(chain) ?? 0n, transactionsMax: TRANSACTIONS_MAX };
  const { ineffective, lastOutgoing } = await listIneffectiveSettlements(world.db, page);
  await replanOrIsolate(world, ineffective);
  reviewed.set(chain, lastOutgoing ?? 0n);
  return ineffective.length;
}

/** When the settlements cannot be replanned together because of their rows, replans each alone. */
async function replanOrIsolate(world: ReplanWorld, ineffective: readonly IneffectiveSettlement[]): Promise<void> {
  if (ineffective.length === 0) return;
  try {
    await world.db.transaction((tx) => replanTogether(tx, world, ineffective));
  } catch (error) {
    if (!isCausedByData(error)) throw error;
    const [only, ...others] = ineffective;
    if (others.length > 0) for (const each of ineffective) await replanOrIsolate(world, [each]);
    else
      raiseAlarm(
        world.log,
        { alarm: "settlement_not_replanned", settlement: only?.id, err: error },
        "a settlement cannot be replanned",
      );
    return;
  }
  for (const each of ineffective)
    world.log.warn({ settlement: each.id, reason: reasonOf(each) }, "a settlement moved nothing; it is retried later");
}

async function replanTogether(
  tx: Tx,
  world: ReplanWorld,
  ineffective: readonly IneffectiveSettlement[],
): Promise<void> {
  const at = world.clock.now();
  // Locks the intents first, in the same order as every other caller, which prevents a deadlock.
  const intents = await lockIntents(tx, [...new Set(ineffective.map(({ intentId }) => intentId))]);
  const reasons = new Map(ineffective.map((each) => [each.id, reasonOf(each)]));
  const changes = new SettlementChanges(at, intents);
  for (const before of await lockSettlements(tx, [...reasons.keys()], ["submitted"]))
    changes.add(before, afterFailedAttempt(before, { reason: reasons.get(before.id) ?? "", at, addMs }));
  await changes.writeSettlements(tx);
  await changes.appendEvents(tx, world);
}

function reasonOf(missed: IneffectiveSettlement): string {
  return `transaction_${missed.transactionStatus}_without_effect`;
}
