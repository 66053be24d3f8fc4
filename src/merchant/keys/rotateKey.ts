import { addMs } from "../../kernel/clock.ts";
import { Fault } from "../../kernel/faults.ts";
import type { World } from "../../world.ts";
import { newApiKey } from "./apiKey.ts";
import { clearKeyCache } from "./keyCache.ts";
import { lockKey, insertKey, updateKeyExpiry, type ApiKeyRow } from "../store.ts";

export type Rotation = {
  keyId: string;
  /** How long the old key keeps working beside the new one, in milliseconds; 0 expires it at once. */
  overlapMs: number;
  /** When the new key expires; never by default. */
  expiresAt?: Date;
};

export type RotatedKey = { keyId: string; apiKey: string; oldKeyId: string; oldExpiresAt: Date };

/**
 * Creates a key with the scopes of an old one, and sets the old one's expiry. Both work during the overlap, so that a
 * merchant can switch without a gap. An earlier expiry of the old key stays. Throws not_found, or invalid_request for
 * an expired or revoked key.
 */
export async function rotateKey(
  world: Pick<World, "db" | "clock" | "entropy" | "memory" | "config">,
  rotation: Rotation,
): Promise<RotatedKey> {
  const now = world.clock.now();
  const { keyId, apiKey, hash } = newApiKey(world.config.environment, world.entropy);
  const oldExpiresAt = await world.db.transaction(async (tx) => {
    const old = await lockKey(tx, rotation.keyId);
    assertRotatable(old, now);
    const { account_id, scopes, default_namespace } = old;
    const newColumns = {
      revoked_at: null,
      last_used_at: null,
      created_at: now,
      expires_at: rotation.expiresAt ?? null,
    };
    await insertKey(tx, { key_id: keyId, account_id, secret_hash: hash, scopes, default_namespace, ...newColumns });
    const overlapEnd = addMs(now, rotation.overlapMs);
    const oldKeyExpiresAt = old.expires_at !== null && old.expires_at < overlapEnd ? old.expires_at : overlapEnd;
    await updateKeyExpiry(tx, { keyId: rotation.keyId, expiresAt: oldKeyExpiresAt });
    return oldKeyExpiresAt;
  });
  clearKeyCache(world);
  return { keyId, apiKey, oldKeyId: rotation.keyId, oldExpiresAt };
}

function assertRotatable(key: ApiKeyRow | undefined, now: Date): asserts key is ApiKeyRow {
  if (key === undefined) throw new Fault("not_found", { message: "No such key." });
  const hasExpired = key.expires_at !== null && key.expires_at <= now;
  if (key.revoked_at === null && !hasExpired) return;
  const message = `The key is ${hasExpired ? "expired" : "revoked"} and cannot be rotated: create a new one.`;
  throw new Fault("invalid_request", { param: "keyId", message });
}
