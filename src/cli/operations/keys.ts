import { addMs } from "../../kernel/clock.ts";
import { createKey as createMerchantKey } from "../../merchant/createKey.ts";
import { listKeys as listMerchantKeys } from "../../merchant/listMerchants.ts";
import { revokeKey as revokeMerchantKey } from "../../merchant/revokeKey.ts";
import { SCOPES } from "../../merchant/scopes.ts";
import type { World } from "../../world.ts";
import { fieldOf, neededText, optionalNumber, optionalText } from "./input.ts";

export type ShownKey = {
  keyId: string;
  accountId: string;
  scopes: string[];
  createdAt: string;
  expiresAt: string | null;
  revokedAt: string | null;
  lastUsedAt: string | null;
};

const DAY_MS = 86_400_000;
const EXPIRY_DAYS_MAX = 3_650;

/** The key itself is in the answer, and never again anywhere. */
export async function createKey(world: World, input: unknown): Promise<{ keyId: string; apiKey: string }> {
  const days = optionalNumber(input, "expiresInDays", { least: 1, most: EXPIRY_DAYS_MAX });
  return createMerchantKey(world, {
    accountId: neededText(input, "accountId"),
    scopes: fieldOf(input, "withoutScopes") === true ? [] : SCOPES,
    ...(days === undefined ? {} : { expiresAt: addMs(world.clock.now(), days * DAY_MS) }),
  });
}

export async function listKeys(world: World, input: unknown): Promise<ShownKey[]> {
  const keys = await listMerchantKeys(world, optionalText(input, "accountId"));
  return keys.map((key) => ({
    keyId: key.key_id,
    accountId: key.account_id,
    scopes: key.scopes,
    createdAt: key.created_at.toISOString(),
    expiresAt: key.expires_at?.toISOString() ?? null,
    revokedAt: key.revoked_at?.toISOString() ?? null,
    lastUsedAt: key.last_used_at?.toISOString() ?? null,
  }));
}

export async function revokeKey(world: World, input: unknown): Promise<{ keyId: string }> {
  // Somebody in a hurry pastes the whole key; its id is the third part of it.
  const given = neededText(input, "keyId");
  const keyId = /^trib_[a-z]+_([a-z0-9]+)_/.exec(given)?.[1] ?? given;
  await revokeMerchantKey(world, keyId);
  return { keyId };
}
