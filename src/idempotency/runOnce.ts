import type { Db, Tx } from "../db/database.ts";
import type { Clock } from "../kernel/clock.ts";
import type { IdempotentRequest } from "./idempotentRequest.ts";
import { runIdempotent, type IdempotentOperation, type IdempotentResult } from "./runIdempotent.ts";

/** Runs an operation in one transaction, and at most once where the caller has given an Idempotency-Key. */
export async function runOnce<Status extends number, Body extends object>(
  world: { db: Db; clock: Clock },
  request: IdempotentRequest | undefined,
  operation: IdempotentOperation<Status, Body>,
): Promise<IdempotentResult<Status>> {
  if (request !== undefined) return runIdempotent(world, request, operation);
  const { status, body, secrets } = await world.db.transaction((tx: Tx) => operation.run(tx));
  return { status, body: { ...body, ...secrets }, isReplayed: false };
}
