import type { Db, Tx } from "../db/database.ts";
import { addMs, type Clock } from "../kernel/clock.ts";
import { Fault } from "../kernel/faults.ts";
import type { IdempotentRequest } from "./idempotentRequest.ts";
import { findStoredResponse, storeResponse, tryLockRequest } from "./store.ts";

export type IdempotentOperation<Status extends number, Body extends object> = {
  /** Does what the call asks for, with SQL alone. Of its answer `secrets` are shown to this caller and kept nowhere. */
  run(tx: Tx): Promise<{ status: Status; body: Body; secrets?: object }>;
  /** The secrets of a replay, which stand in for those of the first answer. */
  renewSecrets?(tx: Tx, body: Body): Promise<object>;
};

export type IdempotentResult<Status extends number> = { status: Status; body: object; isReplayed: boolean };

/** A caller who does not know after a day what became of a call will not send it again. */
const RETENTION_MS = 24 * 3_600_000;

/**
 * Runs `work` at most once for a call, however often it is sent: its answer is kept in the transaction that does it, so a crash leaves
 * both or neither. A call that throws keeps nothing, and may be sent again as if it had never been.
 * Throws request_in_progress while the same call runs, and idempotency_key_reuse where the key was used to ask for something else.
 */
export async function runIdempotent<Status extends number, Body extends object>(
  world: { db: Db; clock: Clock },
  request: IdempotentRequest,
  operation: IdempotentOperation<Status, Body>,
): Promise<IdempotentResult<Status>> {
  return world.db.transaction(async (tx) => {
    if (!(await tryLockRequest(tx, request))) throw new Fault("request_in_progress");
    // After the lock, in a statement of its own: it sees what the call that held the lock before has committed.
    const now = world.clock.now();
    const stored = await findStoredResponse<Status, Body>(tx, request, now);
    if (stored === undefined) {
      const { status, body, secrets } = await operation.run(tx);
      await storeResponse(tx, request, { status, body, expiresAt: addMs(now, RETENTION_MS) });
      return { status, body: { ...body, ...secrets }, isReplayed: false };
    }
    if (!Buffer.from(request.requestHash).equals(stored.requestHash)) throw new Fault("idempotency_key_reuse");
    const secrets = await operation.renewSecrets?.(tx, stored.body);
    return { status: stored.status, body: { ...stored.body, ...secrets }, isReplayed: true };
  });
}
