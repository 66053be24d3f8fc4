import type { Db } from "../db/database.ts";
import type { Entropy } from "../kernel/entropy.ts";
import { assert } from "../kernel/assert.ts";
import { findDeployment, insertDeployment, type Deployment } from "./store.ts";

/** It never changes, so one read a database is enough. */
const deploymentByDb = new WeakMap<Db, Deployment>();

/** The installation's own random bytes: drawn once, when the database is new; asking again returns the same. */
export async function ensureDeployment(db: Db, entropy: Entropy): Promise<Deployment> {
  const found = deploymentByDb.get(db) ?? (await findDeployment(db));
  if (found === undefined)
    await insertDeployment(db, { deploymentId: entropy.bytes(32), signingSecret: entropy.bytes(32) });
  const deployment = found ?? (await findDeployment(db));
  assert(deployment, "the deployment that was just ensured is gone");
  deploymentByDb.set(db, deployment);
  return deployment;
}
