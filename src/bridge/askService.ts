import { BridgeUnavailable } from "../chain/bridge.ts";
import { addMs } from "../kernel/clock.ts";
import type { MemorySlot } from "../kernel/processMemory.ts";
import type { World } from "../world.ts";
import { pauseCalls, type CallKind } from "./callBudget.ts";

type ServiceWorld = Pick<World, "db" | "clock" | "memory">;

/** Since when no request of a kind has got a sound answer in this process, when the last one failed, and why. */
export type ServiceFailure = { readonly since: Date; readonly lastAt: Date; readonly reason: string };

/**
 * Longer than any time between two requests of a kind while there is something to ask: an older failure says nothing of
 * the present.
 */
const FAILURE_MS = 900_000;

const FAILURES: MemorySlot<Map<CallKind, ServiceFailure>> = { create: () => new Map() };

/**
 * Makes one request to the bridge's service, remembers how it went, and stops all calls when the service refuses
 * further ones.
 */
export async function askService<Answer>(
  world: ServiceWorld,
  kind: CallKind,
  request: () => Promise<Answer>,
): Promise<Answer> {
  const failures = world.memory.get(FAILURES);
  try {
    const answer = await request();
    failures.delete(kind);
    return answer;
  } catch (error) {
    if (!(error instanceof BridgeUnavailable)) throw error;
    const at = world.clock.now();
    const known = failures.get(kind);
    const since = known !== undefined && isRecent(known, at) ? known.since : at;
    failures.set(kind, { since, lastAt: at, reason: error.message });
    if (error.isLimited) await pauseCalls(world.db, at);
    throw error;
  }
}

/** Whether the last request of a kind failed, some minutes ago at most. */
export function isFailing({ memory, clock }: Pick<World, "memory" | "clock">, kind: CallKind): boolean {
  const failure = memory.get(FAILURES).get(kind);
  return failure !== undefined && isRecent(failure, clock.now());
}

/** The failure that lasts longest; undefined while the service answers, and before it was asked. */
export function findServiceFailure({ memory, clock }: Pick<World, "memory" | "clock">): ServiceFailure | undefined {
  const lasting = [...memory.get(FAILURES).values()].filter((failure) => isRecent(failure, clock.now()));
  return lasting.toSorted((one, other) => one.since.getTime() - other.since.getTime())[0];
}

function isRecent({ lastAt }: ServiceFailure, now: Date): boolean {
  return addMs(lastAt, FAILURE_MS) > now;
}
