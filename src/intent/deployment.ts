import type { Db } from "../db/database.ts";
import type { Entropy } from "../kernel/entropy.ts";
import { assert } from "../kernel/assert.ts";
import { findDeploymentId, insertDeploymentId } from "./store.ts";

/** It never changes, so one read a database is enough. */
const known = new WeakMap<Db, Uint8Array>();

/**
 * The 32 random bytes that tell this installation from every other: inbox addresses and the secrets of cursors and sessions
 * follow from them. Drawn once, when the database is new; asking again returns the same.
 */
export async function ensureDeployment(db: Db, entropy: Entropy): Promise<Uint8Array> {
  const cached = known.get(db) ?? (await findDeploymentId(db));
  if (cached === undefined) await insertDeploymentId(db, entropy.bytes(32));
  const deploymentId = cached ?? (await findDeploymentId(db));
  assert(deploymentId, "the deployment id that was just ensured is gone");
  known.set(db, deploymentId);
  return deploymentId;
}
