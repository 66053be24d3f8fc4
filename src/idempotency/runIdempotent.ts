import type { Db, Tx } from "../db/database.ts";
import { addMs, type Clock } from "../kernel/clock.ts";
import { Fault } from "../kernel/faults.ts";
import type { IdempotentRequest } from "./idempotentRequest.ts";
import { findStoredResponse, storeResponse, tryLockRequest } from "./store.ts";

export type IdempotentOperation<Status extends number, Body extends object> = {
  /** Executes the request with SQL alone. The response's `secrets` are sent to this caller and never stored. */
  run(tx: Tx): Promise<{ status: Status; body: Body; secrets?: object }>;
  /** Creates new secrets for a replay, in place of the first response's. */
  renewSecrets?(tx: Tx, body: Body): Promise<object>;
};

export type IdempotentResult<Status extends number> = { status: Status; body: object; isReplayed: boolean };

/** A caller that has not learned the outcome within a day does not retry any more. */
const RETENTION_MS = 24 * 3_600_000;

/**
 * Runs `operation` at most once for a request, however often it is sent. The response is stored in the same
 * transaction, so a crash keeps both or neither. A request that throws stores nothing and may be sent again. Throws
 * request_in_progress while the same request runs, and idempotency_key_reuse when the key belongs to a different
 * request.
 */
export async function runIdempotent<Status extends number, Body extends object>(
  world: { db: Db; clock: Clock },
  request: IdempotentRequest,
  operation: IdempotentOperation<Status, Body>,
): Promise<IdempotentResult<Status>> {
  return world.db.transaction(async (tx) => {
    if (!(await tryLockRequest(tx, request))) throw new Fault("request_in_progress");
    // Reads in a new statement after taking the lock, so that it sees the previous lock holder's commit.
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
