import { assert } from "../kernel/assert.ts";
import type { MemorySlot } from "../kernel/processMemory.ts";
import type { World } from "../world.ts";
import { findDeployment, insertDeployment, type Deployment } from "./store.ts";

/** It never changes, so a process reads it once. */
const DEPLOYMENT: MemorySlot<{ found?: Deployment }> = { create: () => ({}) };

/** The installation's own random bytes: drawn once, when the database is new; asking again returns the same. */
export async function ensureDeployment({
  db,
  entropy,
  memory,
}: Pick<World, "db" | "entropy" | "memory">): Promise<Deployment> {
  const held = memory.get(DEPLOYMENT);
  const found = held.found ?? (await findDeployment(db));
  if (found === undefined)
    await insertDeployment(db, { deploymentId: entropy.bytes(32), signingSecret: entropy.bytes(32) });
  const deployment = found ?? (await findDeployment(db));
  assert(deployment, "the deployment that was just ensured is gone");
  held.found = deployment;
  return deployment;
}
