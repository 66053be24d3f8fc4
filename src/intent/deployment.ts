import { assert } from "../kernel/assert.ts";
import type { MemorySlot } from "../kernel/processMemory.ts";
import type { World } from "../world.ts";
import { findDeployment, insertDeployment, type Deployment } from "./store.ts";

/** Caches the deployment for the life of the process: it never changes. */
const DEPLOYMENT: MemorySlot<{ found?: Deployment }> = { create: () => ({}) };

/**
 * Returns the installation's random bytes. The first call on a new database generates them; later calls return the
 * same.
 */
export async function ensureDeployment({
  db,
  entropy,
  memory,
}: Pick<World, "db" | "entropy" | "memory">): Promise<Deployment> {
  const cache = memory.get(DEPLOYMENT);
  const found = cache.found ?? (await findDeployment(db));
  if (found === undefined)
    await insertDeployment(db, { deploymentId: entropy.bytes(32), signingSecret: entropy.bytes(32) });
  const deployment = found ?? (await findDeployment(db));
  assert(deployment, "the deployment row does not exist after its insert");
  cache.found = deployment;
  return deployment;
}
